"""Inner products of centred Gram matrices (HSIC), biased and debiased, for whole lists of layers at once.

CKA and distance correlation are both cosines of such matrices; only the kernel differs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from explorer.errors import ExplorerError
from explorer.linalg import Undefined
from explorer.neighbors import CHUNK_ELEMENTS

STACK_ELEMENTS = 2 * 10**8
BLOCK = 1 << 16
LEAST_DEBIASED = 4


@dataclass
class GramState:
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


def gram_state(features: torch.Tensor | None, gram: torch.Tensor | None) -> GramState:
    """Take the diagonal and the norm once, from centred features or from a doubly centred Gram matrix."""
    if features is not None:
        state = GramState(features, None, features.double().square().sum(dim=1))
    else:
        assert gram is not None
        state = GramState(None, gram, gram.diagonal().double())
    state.own = float(inner_products([state], [state])[0, 0])
    return state


def require_items(n: int, estimator: str, name: str) -> None:
    """Refuse the U-statistic where it does not exist."""
    if estimator == "debiased" and n < LEAST_DEBIASED:
        raise ExplorerError(
            f"Debiased {name} averages over four different items, but there are {n} items; "
            f"at least {LEAST_DEBIASED} are needed (or estimator='biased')."
        )


def inner_products(states_x: Sequence[GramState], states_y: Sequence[GramState]) -> torch.Tensor:
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


def _features_are_cheaper(states_x: Sequence[GramState], states_y: Sequence[GramState]) -> bool:
    if any(s.features is None for s in (*states_x, *states_y)):
        return False
    n = states_x[0].n
    widths_x = [s.features.shape[1] for s in states_x if s.features is not None]
    widths_y = [s.features.shape[1] for s in states_y if s.features is not None]
    gram_side = n * n * (sum(widths_x) + sum(widths_y) + len(widths_x) * len(widths_y))
    return n * sum(widths_x) * sum(widths_y) < gram_side


def _feature_inner(sx: GramState, sy: GramState) -> float:
    assert sx.features is not None and sy.features is not None
    return float((sx.features.T @ sy.features).double().square().sum())


def _blocked_product(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """left @ right.T with short float32 sums added up in float64: long ones lose the third digit."""
    total = torch.zeros(len(left), len(right), dtype=torch.float64, device=left.device)
    for start in range(0, left.shape[1], BLOCK):
        total += (left[:, start : start + BLOCK] @ right[:, start : start + BLOCK].T).double()
    return total


def ratio(
    inner: torch.Tensor, states_x: Sequence[GramState], states_y: Sequence[GramState], estimator: str
) -> np.ndarray:
    """Turn inner products into cosines of Gram matrices; NaN where a self term is not positive."""
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


def alignment(states_x: Sequence[GramState], states_y: Sequence[GramState], estimator: str) -> np.ndarray:
    """All pairs from one pass over row tiles of the Gram matrices (or from features where that is cheaper)."""
    return ratio(inner_products(states_x, states_y), states_x, states_y, estimator)


def refuse_nan(value: float) -> float:
    """A single pair without a value is Undefined, with the reason."""
    if np.isnan(value):
        raise Undefined("the debiased norm of one side is not positive: its kernel is indistinguishable from noise")
    return value


def permute(state: GramState, order: torch.Tensor) -> GramState:
    """Reorder the items; norms do not change."""
    features = None if state.features is None else state.features[order]
    gram = None if state.gram is None else state.gram[order][:, order]
    return GramState(features, gram, state.diagonal[order], state.own)


def contributions(sx: GramState, sy: GramState, estimator: str) -> torch.Tensor:
    """What each item adds to the alignment of two states, times n: (n,) float64, whose mean is the alignment."""
    n = sx.n
    step = max(1, min(n, CHUNK_ELEMENTS // n))
    rows = [(sx.rows(i, i + step) * sy.rows(i, i + step)).double().sum(dim=1) for i in range(0, n, step)]
    inner = torch.cat(rows)
    if estimator == "biased":
        return n * inner / (sx.own * sy.own) ** 0.5
    traces = float(sx.diagonal.sum() * sy.diagonal.sum())
    inner = inner - n / (n - 2) * sx.diagonal * sy.diagonal + traces / (n * (n - 1) * (n - 2))
    norms = [
        float(_unbiased_self(torch.tensor([s.own], dtype=torch.float64), s.diagonal.cpu()[None], n)[0])
        for s in (sx, sy)
    ]
    return n * inner / (norms[0] * norms[1]) ** 0.5


def null_sampler(
    states_x: Sequence[GramState], states_y: Sequence[GramState], estimator: str
) -> Callable[[torch.Tensor], np.ndarray]:
    """A function from a permutation of Y's items to the matrix under it: one gather and one small product each."""
    n = states_x[0].n
    if (len(states_x) + 3 * len(states_y)) * n * n > STACK_ELEMENTS:
        return lambda order: alignment(states_x, [permute(s, order) for s in states_y], estimator)
    # Layers lie innermost, so that a gather moves whole groups of layers and each row sums in short float32 runs.
    left = torch.stack([s.rows(0, n) for s in states_x], dim=2).transpose(1, 2)
    shuffled = shuffler(torch.stack([s.rows(0, n) for s in states_y], dim=2).contiguous())

    def sample(order: torch.Tensor) -> np.ndarray:
        inner = torch.bmm(left, shuffled(order)).double().sum(dim=0).cpu()
        moved = [GramState(None, None, s.diagonal[order], s.own) for s in states_y]
        return ratio(inner, states_x, moved, estimator)

    return sample


def shuffler(grams: torch.Tensor) -> Callable[[torch.Tensor], torch.Tensor]:
    """Put rows and columns of (n, n, layers) in another order; numpy gathers several times faster than torch on a CPU."""
    if grams.is_cuda:
        return lambda order: grams[order][:, order]
    source = grams.numpy()
    half, whole = np.empty_like(source), np.empty_like(source)

    def shuffled(order: torch.Tensor) -> torch.Tensor:
        np.take(source, order.numpy(), axis=0, out=half, mode="clip")
        np.take(half, order.numpy(), axis=1, out=whole, mode="clip")
        return torch.from_numpy(whole)

    return shuffled


def null_moments(sx: GramState, sy: GramState, estimator: str) -> tuple[float, float]:
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


def _moment_terms(state: GramState) -> tuple[float, float]:
    n, trace = state.n, float(state.diagonal.sum())
    b = trace**2 / state.own
    if n - 1 - b < 1e-9:
        return b, 0.0
    squares = float(state.diagonal.square().sum()) / state.own
    return b, (n - 1) / ((n - 3) * (n - 1 - b)) * (n * (n + 1) * squares - (n - 1) * (b + 2))
