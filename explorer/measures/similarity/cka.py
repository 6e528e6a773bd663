"""Centred kernel alignment: the cosine of two centred Gram matrices, biased or debiased."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from explorer.errors import ExplorerError
from explorer.linalg import Undefined, centred, centred_and_scaled
from explorer.measures.registry import Measure, Parameter
from explorer.neighbors import CHUNK_ELEMENTS, pairwise_distances

STACK_ELEMENTS = 2 * 10**8
BLOCK = 1 << 16
LEAST_DEBIASED = 4


@dataclass
class CKAState:
    """What one representation contributes to every pair.

    ``features`` are centred (n, d), or None for a kernel that is only known as ``gram`` (n, n), doubly centred.
    ``diagonal`` is the diagonal of the centred Gram matrix in float64, ``own`` its inner product with itself.
    """

    features: torch.Tensor | None
    gram: torch.Tensor | None
    diagonal: torch.Tensor
    own: float = 0.0

    @property
    def n(self) -> int:
        return len(self.diagonal)

    def rows(self, start: int, stop: int) -> torch.Tensor:
        """Rows of the centred Gram matrix."""
        if self.gram is not None:
            return self.gram[start:stop]
        assert self.features is not None
        return self.features[start:stop] @ self.features.T


def prepare(x: torch.Tensor, kernel: str, bandwidth: float, estimator: str = "biased") -> CKAState:
    """Centre once; an RBF kernel is held as its doubly centred Gram matrix."""
    if estimator == "debiased" and len(x) < LEAST_DEBIASED:
        raise ExplorerError(
            f"Debiased CKA averages over four different items, but there are {len(x)} items; "
            f"at least {LEAST_DEBIASED} are needed (or estimator='biased')."
        )
    if kernel == "linear":
        features = centred_and_scaled(x)
        state = CKAState(features, None, features.double().square().sum(dim=1))
    else:
        gram = _rbf_gram(x, bandwidth)
        state = CKAState(None, gram, gram.diagonal().double())
    state.own = float(_inner([state], [state])[0, 0])
    return state


def _rbf_gram(x: torch.Tensor, bandwidth: float) -> torch.Tensor:
    distances = pairwise_distances(centred_and_scaled(x))
    upper = torch.triu_indices(len(x), len(x), 1, device=x.device)
    # numpy's median averages the two middle values, which torch's does not.
    median = float(np.median(distances[upper[0], upper[1]].cpu().numpy()))
    if median == 0:
        raise Undefined("more than half of the pairs of items coincide, so the median bandwidth is zero")
    gram = torch.exp(-distances.square() / (2 * (bandwidth * median) ** 2))
    gram = centred(centred(gram).T).T
    return gram.contiguous()


def _inner(states_x: Sequence[CKAState], states_y: Sequence[CKAState]) -> torch.Tensor:
    """Inner products of all pairs of centred Gram matrices, summed in float64."""
    if _features_are_cheaper(states_x, states_y):
        return torch.tensor([[_feature_inner(sx, sy) for sy in states_y] for sx in states_x], dtype=torch.float64)
    n = states_x[0].n
    same = len(states_x) == len(states_y) and all(a is b for a, b in zip(states_x, states_y))
    rows = max(1, min(n, CHUNK_ELEMENTS // (n * (len(states_x) + len(states_y)))))
    total = torch.zeros(len(states_x), len(states_y), dtype=torch.float64, device=states_x[0].diagonal.device)
    for start in range(0, n, rows):
        left = torch.stack([s.rows(start, start + rows).flatten() for s in states_x])
        right = left if same else torch.stack([s.rows(start, start + rows).flatten() for s in states_y])
        total += _blocked_product(left, right)
    return total.cpu()


def _features_are_cheaper(states_x: Sequence[CKAState], states_y: Sequence[CKAState]) -> bool:
    if any(s.features is None for s in (*states_x, *states_y)):
        return False
    n = states_x[0].n
    widths_x = [s.features.shape[1] for s in states_x if s.features is not None]
    widths_y = [s.features.shape[1] for s in states_y if s.features is not None]
    gram_side = n * n * (sum(widths_x) + sum(widths_y) + len(widths_x) * len(widths_y))
    return n * sum(widths_x) * sum(widths_y) < gram_side


def _feature_inner(sx: CKAState, sy: CKAState) -> float:
    assert sx.features is not None and sy.features is not None
    return float((sx.features.T @ sy.features).double().square().sum())


def _blocked_product(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """left @ right.T with short float32 sums added up in float64: long ones lose the third digit."""
    total = torch.zeros(len(left), len(right), dtype=torch.float64, device=left.device)
    for start in range(0, left.shape[1], BLOCK):
        total += (left[:, start : start + BLOCK] @ right[:, start : start + BLOCK].T).double()
    return total


def _ratio(
    inner: torch.Tensor, states_x: Sequence[CKAState], states_y: Sequence[CKAState], estimator: str
) -> np.ndarray:
    """Turn inner products (..., Lx, Ly) into CKA; NaN where a self term is not positive."""
    n = states_x[0].n
    own_x = torch.tensor([s.own for s in states_x], dtype=torch.float64)
    own_y = torch.tensor([s.own for s in states_y], dtype=torch.float64)
    if estimator == "biased":
        return (inner / torch.sqrt(own_x[:, None] * own_y[None, :])).numpy()
    diagonal_x = torch.stack([s.diagonal for s in states_x]).cpu()
    diagonal_y = torch.stack([s.diagonal for s in states_y]).cpu()
    numerator = inner - _diagonal_terms(diagonal_x @ diagonal_y.T, diagonal_x.sum(1), diagonal_y.sum(1), n)
    self_x, self_y = _unbiased_self(own_x, diagonal_x, n), _unbiased_self(own_y, diagonal_y, n)
    return (numerator / torch.sqrt(self_x[:, None] * self_y[None, :])).numpy()


def _diagonal_terms(products: torch.Tensor, trace_x: torch.Tensor, trace_y: torch.Tensor, n: int) -> torch.Tensor:
    """What Song's U-statistic takes from the inner product, for centred Gram matrices (rows sum to zero)."""
    return products * n / (n - 2) - trace_x[:, None] * trace_y[None, :] / ((n - 1) * (n - 2))


def _unbiased_self(own: torch.Tensor, diagonal: torch.Tensor, n: int) -> torch.Tensor:
    value = own - diagonal.square().sum(1) * n / (n - 2) + diagonal.sum(1).square() / ((n - 1) * (n - 2))
    # Below rounding a self term has no sign; a ratio with it would be noise.
    return torch.where(value > 1e-12 * own, value, torch.nan)


def compare_matrix(
    states_x: Sequence[CKAState], states_y: Sequence[CKAState], estimator: str, **_: object
) -> np.ndarray:
    """All pairs from one pass over row tiles of the Gram matrices (or from features where that is cheaper)."""
    return _ratio(_inner(states_x, states_y), states_x, states_y, estimator)


def compare(sx: CKAState, sy: CKAState, **params: object) -> float:
    """One pair."""
    value = float(compare_matrix([sx], [sy], **params)[0, 0])  # type: ignore[arg-type]
    if np.isnan(value):
        raise Undefined("the debiased norm of one side is not positive: its kernel is indistinguishable from noise")
    return value


def permute(state: CKAState, order: torch.Tensor) -> CKAState:
    """Reorder the items; norms do not change."""
    features = None if state.features is None else state.features[order]
    gram = None if state.gram is None else state.gram[order][:, order]
    return CKAState(features, gram, state.diagonal[order], state.own)


def null_matrices(
    states_x: Sequence[CKAState], states_y: Sequence[CKAState], permutations: torch.Tensor, estimator: str, **_: object
) -> np.ndarray:
    """The matrices under many row permutations of Y: one gather and one small product each."""
    n = states_x[0].n
    held = (len(states_x) + 2 * len(states_y)) * n * n <= STACK_ELEMENTS
    if not held:
        return np.stack([compare_matrix(states_x, [permute(s, p) for s in states_y], estimator) for p in permutations])
    left = torch.stack([s.rows(0, n).flatten() for s in states_x])
    right = torch.stack([s.rows(0, n) for s in states_y])
    values = []
    for order in permutations:
        shuffled = right[:, order][:, :, order].flatten(1)
        moved = [CKAState(None, None, s.diagonal[order], s.own) for s in states_y]
        values.append(_ratio(_blocked_product(left, shuffled).cpu(), states_x, moved, estimator))
    return np.stack(values)


def null_moments(sx: CKAState, sy: CKAState, estimator: str, **_: object) -> tuple[float, float]:
    """Mean and standard deviation of biased CKA over all row permutations, in closed form.

    Under the debiased estimator the mean of the numerator is exactly zero; its deviation is left to permutations.
    Josse, Pages & Husson (2008), "Testing the significance of the RV coefficient".
    """
    if estimator != "biased":
        return 0.0, float("nan")
    n = sx.n
    (b_x, t_x), (b_y, t_y) = _moment_terms(sx), _moment_terms(sy)
    mean = np.sqrt(b_x * b_y) / (n - 1)
    variance = 2 * (n - 1 - b_x) * (n - 1 - b_y) / ((n + 1) * (n - 1) ** 2 * (n - 2))
    variance *= 1 + (n - 3) / (2 * n * (n - 1)) * t_x * t_y
    return float(mean), float(np.sqrt(max(variance, 0.0)))


def _moment_terms(state: CKAState) -> tuple[float, float]:
    n, trace = state.n, float(state.diagonal.sum())
    b = trace**2 / state.own
    if n - 1 - b < 1e-9:
        return b, 0.0
    squares = float(state.diagonal.square().sum()) / state.own
    return b, (n - 1) / ((n - 3) * (n - 1 - b)) * (n * (n + 1) * squares - (n - 1) * (b + 2))


MEASURE = Measure(
    id="cka",
    name="Centred kernel alignment (CKA)",
    family="similarity",
    kind="pairwise",
    authors="Kornblith, Norouzi, Lee & Hinton; debiased by Song, Smola, Gretton, Bedo & Borgwardt (2012)",
    year=2019,
    title="Similarity of Neural Network Representations Revisited",
    formula=r"\mathrm{CKA}(K, L) = \frac{\mathrm{HSIC}(K, L)}{\sqrt{\mathrm{HSIC}(K, K)\,\mathrm{HSIC}(L, L)}}",
    range=(-1.0, 1.0),
    higher_means="more alike",
    cost="n d min(n, d) a pair; a whole matrix of L layers n^2 (L d + L^2)",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat=(
        "Dominated by the directions of largest variance. Biased CKA is far above 0 for unrelated data when d is not "
        "well below n (0.89 at n = 100, d = 768); the debiased estimator averages to 0 and may be slightly negative."
    ),
    parameters=(
        Parameter("estimator", "debiased", "U-statistic (debiased) or plain HSIC (biased)", ("debiased", "biased")),
        Parameter("kernel", "linear", "linear, or Gaussian with a bandwidth that follows the data", ("linear", "rbf")),
        Parameter("bandwidth", 1.0, "rbf: share of the median distance between items", minimum=1e-3, maximum=1e3),
    ),
    min_items=2,
    prepare=prepare,
    compare=compare,
    compare_matrix=compare_matrix,
    permute=permute,
    null_matrices=null_matrices,
    null_moments=null_moments,
)
