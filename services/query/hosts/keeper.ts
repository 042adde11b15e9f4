/** Figures by the name of the metric, as a Keeper node gives them to Prometheus; labelled ones are added up. */
export const readFigures = (text: string): Map<string, number> => {
  const figures = new Map<string, number>()
  for (const line of text.split('\n')) {
    const [, name = '', value = ''] = /^(\w+)(?:\{[^}]*\})?\s+(\S+)/.exec(line) ?? []
    if (name !== '' && Number.isFinite(Number(value))) figures.set(name, (figures.get(name) ?? 0) + Number(value))
  }
  return figures
}

/** Whether these are the figures of a Keeper node. */
export const isKeeper = (figures: ReadonlyMap<string, number>): boolean =>
  figures.has('ClickHouseAsyncMetrics_KeeperIsLeader')
