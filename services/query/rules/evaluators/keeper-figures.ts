/** Figures by the name of the metric, as a Keeper node gives them to Prometheus; labelled ones are added up. */
export const readFigures = (text: string): Map<string, number> => {
  const figures = new Map<string, number>()
  for (const line of text.split('\n')) {
    const [, name = '', value = ''] = /^(\w+)(?:\{[^}]*\})?\s+(\S+)/.exec(line) ?? []
    if (name !== '' && Number.isFinite(Number(value))) figures.set(name, (figures.get(name) ?? 0) + Number(value))
  }
  return figures
}

interface Fault {
  fault: string
  /** It cannot do its work; else it is near that. */
  isFailure: boolean
}

const maxOutstanding = 10
const maxLatencyMs = 500
const maxOpenShare = 0.8

/** What is wrong with a node, by its figures; one that gives no figure of Keeper is none. */
export const keeperFaults = (figures: ReadonlyMap<string, number>): Fault[] => {
  const figure = (name: string): number | undefined => figures.get(`ClickHouseAsyncMetrics_Keeper${name}`)
  const total = (name: string): number => figures.get(`ClickHouseProfileEvents_Keeper${name}`) ?? 0
  const known = [...figures.keys()].some((name) => /^ClickHouse\w+_Keeper/.test(name))
  const followers = figure('Followers') ?? 0
  const open = (figure('OpenFileDescriptorCount') ?? 0) / (figure('MaxFileDescriptorCount') || Infinity)
  const isAlone = figure('IsStandalone') === 1
  const checks: (Fault & { holds: boolean })[] = [
    { fault: 'it gives no figures of Keeper', isFailure: true, holds: !known },
    { fault: 'it has lost its quorum', isFailure: true, holds: known && !isAlone && isWithoutRole(figure) },
    {
      fault: 'no follower is in step with it',
      isFailure: true,
      holds: figure('IsLeader') === 1 && followers > 0 && figure('SyncedFollowers') === 0,
    },
    { fault: 'commits have failed', isFailure: true, holds: total('CommitsFailed') > 0 },
    {
      fault: 'it writes past its soft limit of memory',
      isFailure: false,
      holds: total('RequestRejectedDueToSoftMemoryLimitCount') > 0,
    },
    { fault: 'requests wait', isFailure: false, holds: (figure('OutstandingRequests') ?? 0) > maxOutstanding },
    { fault: 'it answers slowly', isFailure: false, holds: (figure('MaxLatency') ?? 0) > maxLatencyMs },
    { fault: 'its files run out', isFailure: false, holds: open > maxOpenShare },
  ]
  return checks.filter(({ holds }) => holds).map(({ fault, isFailure }) => ({ fault, isFailure }))
}

/** A member of an ensemble leads, follows or observes. */
const isWithoutRole = (figure: (name: string) => number | undefined): boolean =>
  ['IsLeader', 'IsFollower', 'IsObserver'].every((role) => figure(role) === 0)
