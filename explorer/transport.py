"""Exact optimal transport between the neighbourhoods of many pairs of nodes, compiled and without the interpreter lock.

The pairs are many and the problems small (a few dozen masses), so calling a solver one by one costs more than solving.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
from numba import njit

NOTHING = 1e-14


def neighbourhood_transport(
    indptr: np.ndarray, indices: np.ndarray, distances: np.ndarray, ends: np.ndarray, alpha: float
) -> np.ndarray:
    """Wasserstein-1 distance between the lazy random walks from both ends of each pair, (m,) float64.

    Parameters
    ----------
    indptr, indices : numpy.ndarray
        Neighbours of each node, as in a CSR matrix.
    distances : numpy.ndarray, shape (n, n)
        Distance between nodes; entries between neighbourhoods that no pair joins are not read.
    ends : numpy.ndarray, shape (m, 2)
        The pairs.
    alpha : float
        Probability that the walk stays; the rest is spread evenly over the neighbours.
    """
    found = np.empty(len(ends))
    widest = int(np.diff(indptr).max()) + 1
    workers = max(1, min(torch.get_num_threads(), len(ends) // 256))
    arguments = (indptr.astype(np.int64), indices.astype(np.int64), distances)
    # Interleaved shares, since hubs stand together.
    shares = [np.arange(w, len(ends), workers) for w in range(workers)]

    def share(places: np.ndarray) -> None:
        found[places] = _transport_all(*arguments, ends[places].astype(np.int64), alpha, widest)

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(share, shares))
    return found


@njit(cache=True, nogil=True)
def _transport_all(indptr, indices, distances, ends, alpha, widest):  # type: ignore[no-untyped-def]  # pragma: no cover
    found = np.empty(len(ends))
    place = np.full(len(indptr) - 1, -1, np.int64)
    nodes_a, nodes_b = np.empty(widest, np.int64), np.empty(widest, np.int64)
    mass_a, mass_b = np.empty(widest), np.empty(widest)
    cost, flow = np.empty((widest, widest)), np.empty((widest, widest))
    for pair in range(len(ends)):
        count_a = _walk(indptr, indices, ends[pair, 0], alpha, nodes_a, mass_a)
        count_b = _walk(indptr, indices, ends[pair, 1], alpha, nodes_b, mass_b)
        # Mass that both walks put on the same node need not move.
        for j in range(count_b):
            place[nodes_b[j]] = j
        for i in range(count_a):
            j = place[nodes_a[i]]
            if j >= 0:
                shared = min(mass_a[i], mass_b[j])
                mass_a[i] -= shared
                mass_b[j] -= shared
        for j in range(count_b):
            place[nodes_b[j]] = -1
        count_a = _drop_empty(nodes_a, mass_a, count_a)
        count_b = _drop_empty(nodes_b, mass_b, count_b)
        for i in range(count_a):
            for j in range(count_b):
                cost[i, j] = distances[nodes_a[i], nodes_b[j]]
        found[pair] = _solve(cost, flow, mass_a, mass_b, count_a, count_b)
    return found


@njit(cache=True, nogil=True)
def _walk(indptr, indices, node, alpha, nodes, mass):  # type: ignore[no-untyped-def]  # pragma: no cover
    degree = indptr[node + 1] - indptr[node]
    nodes[0], mass[0] = node, alpha
    for i in range(degree):
        nodes[i + 1] = indices[indptr[node] + i]
        mass[i + 1] = (1 - alpha) / degree
    return degree + 1


@njit(cache=True, nogil=True)
def _drop_empty(nodes, mass, count):  # type: ignore[no-untyped-def]  # pragma: no cover
    kept = 0
    for i in range(count):
        if mass[i] > NOTHING:
            nodes[kept], mass[kept] = nodes[i], mass[i]
            kept += 1
    return kept


@njit(cache=True, nogil=True)
def _solve(cost, flow, supply, demand, rows, columns):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Successive shortest paths with potentials (Dijkstra on reduced costs): exact, and quick for dozens of masses."""
    row_price, column_price = np.empty(rows), np.empty(columns)
    row_far, column_far = np.empty(rows), np.empty(columns)
    row_from, column_from = np.empty(rows, np.int64), np.empty(columns, np.int64)
    row_done, column_done = np.empty(rows, np.bool_), np.empty(columns, np.bool_)
    for i in range(rows):
        row_price[i] = np.inf
        for j in range(columns):
            flow[i, j] = 0.0
            row_price[i] = min(row_price[i], cost[i, j])
    for j in range(columns):
        column_price[j] = np.inf
        for i in range(rows):
            column_price[j] = min(column_price[j], cost[i, j] - row_price[i])
    # What fits on arcs without reduced cost is part of an optimal plan of what has been sent so far.
    left = 0.0
    for i in range(rows):
        for j in range(columns):
            if supply[i] > NOTHING and demand[j] > NOTHING and cost[i, j] - row_price[i] - column_price[j] <= 0:
                amount = min(supply[i], demand[j])
                flow[i, j] = amount
                supply[i] -= amount
                demand[j] -= amount
        left += supply[i]
    while left > NOTHING:
        for i in range(rows):
            row_far[i] = 0.0 if supply[i] > NOTHING else np.inf
            row_from[i], row_done[i] = -1, False
        for j in range(columns):
            column_far[j], column_from[j], column_done[j] = np.inf, -1, False
        end, reach = -1, 0.0
        while True:
            best, at, is_row = np.inf, -1, True
            for i in range(rows):
                if not row_done[i] and row_far[i] < best:
                    best, at, is_row = row_far[i], i, True
            for j in range(columns):
                if not column_done[j] and column_far[j] < best:
                    best, at, is_row = column_far[j], j, False
            if at < 0:
                break
            if is_row:
                row_done[at] = True
                for j in range(columns):
                    far = best + max(cost[at, j] - row_price[at] - column_price[j], 0.0)
                    if far < column_far[j]:
                        column_far[j], column_from[j] = far, at
            else:
                if demand[at] > NOTHING:
                    end, reach = at, best
                    break
                column_done[at] = True
                for i in range(rows):
                    if flow[i, at] > NOTHING and best < row_far[i]:
                        row_far[i], row_from[i] = best, at
        if end < 0:
            break
        for i in range(rows):
            if row_far[i] < reach:
                row_price[i] += reach - row_far[i]
        for j in range(columns):
            if column_far[j] < reach:
                column_price[j] -= reach - column_far[j]
        # The most that the path carries, then carry it.
        amount, j = demand[end], end
        while True:
            i = column_from[j]
            if row_from[i] < 0:
                amount = min(amount, supply[i])
                break
            j = row_from[i]
            amount = min(amount, flow[i, j])
        j = end
        while True:
            i = column_from[j]
            flow[i, j] += amount
            if row_from[i] < 0:
                supply[i] -= amount
                break
            j = row_from[i]
            flow[i, j] -= amount
        demand[end] -= amount
        left -= amount
    total = 0.0
    for i in range(rows):
        for j in range(columns):
            total += flow[i, j] * cost[i, j]
    return total
