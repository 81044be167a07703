"""Ranking metrics by ir-measures, which hands them to trec_eval; imported when the first is computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

METRICS = ("ndcg@10", "recall@10", "recall@100", "mrr@10", "map")


def per_query_metrics(
    rankings: Mapping[str, Sequence[str]], qrels: Mapping[str, Mapping[str, int]]
) -> dict[str, dict[str, float]]:
    """For each judged question the five metrics of its ranked documents, 0 where it has no ranking.

    nDCG takes the grade as the gain (Järvelin and Kekäläinen 2002, as trec_eval); recall counts grades of 1 and more;
    MAP is over the whole ranking.
    """
    import ir_measures
    from ir_measures import AP, RR, R, nDCG

    measures = {str(nDCG @ 10): "ndcg@10", str(R @ 10): "recall@10", str(R @ 100): "recall@100"}
    measures |= {str(RR @ 10): "mrr@10", str(AP): "map"}
    # Scores by rank: trec_eval would order equal scores by document id.
    run = {query: {id: -float(rank) for rank, id in enumerate(ranking)} for query, ranking in rankings.items()}
    judged = {query: dict(graded) for query, graded in qrels.items()}
    found: dict[str, dict[str, float]] = {query: dict.fromkeys(METRICS, 0.0) for query in qrels}
    for one in ir_measures.iter_calc([nDCG @ 10, R @ 10, R @ 100, RR @ 10, AP], judged, run):
        found[one.query_id][measures[str(one.measure)]] = one.value
    return found
