/** Parses a Prometheus exposition into values by metric name; samples that differ only in labels are summed. */
export const parsePrometheusMetrics = (text: string): Map<string, number> => {
  const figures = new Map<string, number>()
  for (const line of text.split('\n')) {
    const [, name = '', value = ''] = /^(\w+)(?:\{[^}]*\})?\s+(\S+)/.exec(line) ?? []
    if (name !== '' && Number.isFinite(Number(value))) figures.set(name, (figures.get(name) ?? 0) + Number(value))
  }
  return figures
}

/** Returns whether the metrics come from a Keeper node. */
export const isKeeperNode = (figures: ReadonlyMap<string, number>): boolean =>
  figures.has('ClickHouseAsyncMetrics_KeeperIsLeader')
