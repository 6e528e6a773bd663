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
from explorer.shuffling import shuffled_products

STACK_ELEMENTS = 2 * 10**8
BLOCK = 1 << 14
ITEMS = 1 << 12
LEAST_DEBIASED = 4


@dataclass
class GramState:
    """What one representation contributes to every pair.

    ``features`` are centred (n, d), or None for a kernel that is only known as ``gram`` (n, n), doubly centred.
    """

    features: torch.Tensor | None
    gram: torch.Tensor | None
    known_diagonal: torch.Tensor | None = None
    known_own: float | None = None

    @property
    def values(self) -> torch.Tensor:
        """Whichever is held; one row an item."""
        held = self.features if self.features is not None else self.gram
        assert held is not None
        return held

    @property
    def n(self) -> int:
        return len(self.values)

    @property
    def diagonal(self) -> torch.Tensor:
        """The diagonal of the centred Gram matrix, (n,) float64; only debiased values and closed forms need it."""
        if self.known_diagonal is None:
            if self.features is not None:
                self.known_diagonal = self.features.square().sum(dim=1, dtype=torch.float64)
            else:
                self.known_diagonal = self.values.diagonal().double()
        return self.known_diagonal

    @property
    def own(self) -> float:
        """The inner product of the centred Gram matrix with itself."""
        if self.known_own is None:
            self.known_own = float(inner_products([self], [self])[0, 0])
        return self.known_own

    def rows(self, start: int, stop: int) -> torch.Tensor:
        """Rows of the centred Gram matrix."""
        if self.features is None:
            return self.values[start:stop]
        return self.features[start:stop] @ self.features.T

    def tile(self, rows: slice, columns: slice, out: torch.Tensor) -> None:
        """Write some rows and columns of the centred Gram matrix into a flat piece of memory."""
        shape = (rows.stop - rows.start, columns.stop - columns.start)
        if self.features is None:
            out.view(shape).copy_(self.values[rows, columns])
        else:
            torch.matmul(self.features[rows], self.features[columns].T, out=out.view(shape))


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
        return _feature_products(states_x, states_y)
    same = _same(states_x, states_y)
    states = list(states_x) if same else [*states_x, *states_y]
    n = states[0].n
    # Gram matrices are symmetric, so only tiles on and right of the diagonal are formed; the latter count twice.
    rows = max(1, min(CHUNK_ELEMENTS // (n * len(states)), max(64, n // 8), n))
    values = states[0].values
    buffer = torch.empty(len(states), rows * n, dtype=values.dtype, device=values.device)
    total = torch.zeros(len(states_x), len(states_y), dtype=torch.float64, device=values.device)
    for start in range(0, n, rows):
        stop = min(start + rows, n)
        for columns, weight in ((slice(start, stop), 1), (slice(stop, n), 2)):
            size = (stop - start) * (columns.stop - columns.start)
            if size:
                for state, out in zip(states, buffer):
                    state.tile(slice(start, stop), columns, out[:size])
                left, right = buffer[: len(states_x), :size], buffer[-len(states_y) :, :size]
                total += weight * _blocked_product(left, right)
    return total.cpu()


def _same(states_x: Sequence[GramState], states_y: Sequence[GramState]) -> bool:
    return len(states_x) == len(states_y) and all(a is b for a, b in zip(states_x, states_y))


def _features_are_cheaper(states_x: Sequence[GramState], states_y: Sequence[GramState]) -> bool:
    if any(s.features is None for s in (*states_x, *states_y)):
        return False
    n, share = states_x[0].n, 0.5 if _same(states_x, states_y) else 1.0
    width_x, width_y = (sum(s.values.shape[1] for s in states) for states in (states_x, states_y))
    gram_side = n * n * (share * (width_x + width_y) + share * len(states_x) * len(states_y)) / 2
    return share * n * width_x * width_y < gram_side


def _feature_products(states_x: Sequence[GramState], states_y: Sequence[GramState]) -> torch.Tensor:
    total = torch.zeros(len(states_x), len(states_y), dtype=torch.float64)
    same = _same(states_x, states_y)
    for i, sx in enumerate(states_x):
        for j in range(i if same else 0, len(states_y)):
            total[i, j] = _feature_inner(sx, states_y[j])
            if same:
                total[j, i] = total[i, j]
    return total


def _feature_inner(sx: GramState, sy: GramState) -> float:
    return float(_cross_product(sx, sy).square().sum())


def _cross_product(sx: GramState, sy: GramState) -> torch.Tensor:
    """X^T Y, (d_x, d_y), with short sums over items added up in float64."""
    parts = zip(sx.values.split(ITEMS), sy.values.split(ITEMS))
    product = sum((x.T @ y).double() for x, y in parts)
    assert isinstance(product, torch.Tensor)
    return product


def _blocked_product(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """left @ right.T with short float32 sums added up in float64: long ones lose the third digit."""
    whole = left.shape[1] // BLOCK * BLOCK
    total = (left[:, whole:] @ right[:, whole:].T).double()
    if whole:
        a, b = (side[:, :whole].unflatten(1, (-1, BLOCK)).transpose(0, 1) for side in (left, right))
        total += torch.bmm(a, b.transpose(1, 2)).double().sum(dim=0)
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
    """All pairs from one pass over tiles of the Gram matrices (or from features where that is cheaper).

    Self terms that are not known yet come out of the same pass.
    """
    states = list({id(s): s for s in (*states_x, *states_y)}.values())
    unknown = any(s.known_own is None for s in states)
    if unknown and not (len(states) > 1 and _features_are_cheaper(states_x, states_y)):
        inner = inner_products(states, states)
        for state, value in zip(states, inner.diagonal().tolist()):
            state.known_own = value
        place = {id(s): i for i, s in enumerate(states)}
        inner = inner[[place[id(s)] for s in states_x]][:, [place[id(s)] for s in states_y]]
        return ratio(inner, states_x, states_y, estimator)
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
    diagonal = None if state.known_diagonal is None else state.known_diagonal[order]
    return GramState(features, gram, diagonal, state.own)


def contributions(sx: GramState, sy: GramState, estimator: str) -> torch.Tensor:
    """What each item adds to the alignment of two states, times n: (n,) float64, whose mean is the alignment."""
    n, inner = sx.n, _row_products(sx, sy)
    if estimator == "biased":
        return n * inner / (sx.own * sy.own) ** 0.5
    traces = float(sx.diagonal.sum() * sy.diagonal.sum())
    inner = inner - n / (n - 2) * sx.diagonal * sy.diagonal + traces / (n * (n - 1) * (n - 2))
    norms = [
        float(_unbiased_self(torch.tensor([s.own], dtype=torch.float64), s.diagonal.cpu()[None], n)[0])
        for s in (sx, sy)
    ]
    return n * inner / (norms[0] * norms[1]) ** 0.5


def _row_products(sx: GramState, sy: GramState) -> torch.Tensor:
    """Inner product of each item's rows of the two Gram matrices, (n,) float64."""
    n = sx.n
    if _features_are_cheaper([sx], [sy]):
        cross = _cross_product(sx, sy)
        parts = zip(sx.values.split(ITEMS), sy.values.split(ITEMS))
        return torch.cat([((x.double() @ cross) * y).sum(dim=1) for x, y in parts])
    step = max(1, min(n, CHUNK_ELEMENTS // n))
    return torch.cat([(sx.rows(i, i + step) * sy.rows(i, i + step)).double().sum(dim=1) for i in range(0, n, step)])


def null_sampler(
    states_x: Sequence[GramState], states_y: Sequence[GramState], estimator: str
) -> Callable[[torch.Tensor], np.ndarray]:
    """A function from a permutation of Y's items to the matrix under it: one gather and one small product each."""
    n = states_x[0].n
    if (len(states_x) + 3 * len(states_y)) * n * n > STACK_ELEMENTS:
        return lambda order: alignment(states_x, [permute(s, order) for s in states_y], estimator)
    product = shuffled_products([s.rows(0, n) for s in states_x], [s.rows(0, n) for s in states_y])

    def sample(order: torch.Tensor) -> np.ndarray:
        moved = [GramState(s.features, s.gram, s.diagonal[order], s.own) for s in states_y]
        return ratio(product(order).cpu(), states_x, moved, estimator)

    return sample


def null_moments(sx: GramState, sy: GramState, estimator: str) -> tuple[float, float]:
    """Mean and standard deviation over all permutations of the items, in closed form.

    Biased: Josse, Pages & Husson (2008), "Testing the significance of the RV coefficient". Debiased: U-centred
    matrices fill a space of n (n - 3) / 2 dimensions that permutations do not split, so chance has mean zero and
    variance one over that number, whatever the data; compare Székely & Rizzo (2013), "The distance correlation
    t-test of independence in high dimension".
    """
    n = sx.n
    if estimator != "biased":
        return 0.0, float(np.sqrt(2 / (n * (n - 3))))
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
