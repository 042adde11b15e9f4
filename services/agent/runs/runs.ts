import { randomBytes } from 'node:crypto'
import type { agent } from '#proto/agent.ts'
import type { Identity } from '#proto/call.ts'
import type { ServiceHandlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { getRunOwner, Run, type RunLimits, runLimits } from './run.ts'

/** Performs a run. Must resolve after it has emitted all events, and soon after the signal of the run aborts. */
type PerformRun = (run: Run) => Promise<void>

/** The runs of this process. */
export interface Runs extends AsyncDisposable {
  /** The number of runs that have not ended. */
  readonly running: number
  /** Starts a run. Throws `busy` if `maxRuns` runs are active or the process is stopping. */
  start(identity: Identity, maxRuns: number, work: PerformRun): Run
  /** Returns the run with this id. Throws `gone` if it does not exist or belongs to another user. */
  of(id: string, identity: Identity): Run
}

interface RunsOptions {
  instance: string
  limits?: Partial<RunLimits>
  /** Returns how long runs may continue while the process stops, in milliseconds. */
  graceMs(): number
}

const idBytes = 16
const busyRetryMs = 2_000

/** Opens the runs of this process. Disposal waits for running ones during the grace period, then stops them. */
export const openRuns = ({ instance, graceMs, ...options }: RunsOptions): Runs => {
  const limits = { ...runLimits, ...options.limits }
  const runsById = new Map<string, Run>()
  const working = new Map<Run, Promise<void>>()
  let isStopping = false

  const execute = async (run: Run, work: PerformRun): Promise<void> => {
    await work(run)
    run.end()
    working.delete(run)
    setTimeout(() => runsById.delete(run.id), limits.retainedMs).unref()
  }

  return {
    get running() {
      return working.size
    },
    start(identity, maxRuns, work) {
      if (isStopping || working.size >= maxRuns) {
        const reason = isStopping
          ? 'this agent process is stopping'
          : 'the agent has reached its maximum of concurrent runs'
        throw new ServiceError('busy', `${reason}; try again shortly`, { retryAfterMs: busyRetryMs })
      }
      const run = new Run(`${instance}.${randomBytes(idBytes).toString('base64url')}`, identity, limits)
      runsById.set(run.id, run)
      working.set(run, execute(run, work))
      return run
    },
    of(id, identity) {
      const run = runsById.get(id)
      if (run && run.owner === getRunOwner(identity)) return run
      throw new ServiceError('gone', 'this run is no longer available; send the message again')
    },
    async [Symbol.asyncDispose]() {
      isStopping = true
      const late = setTimeout(() => {
        for (const run of working.keys()) run.stop('stopping')
      }, graceMs())
      await Promise.all(working.values())
      clearTimeout(late)
      runsById.clear()
    },
  }
}

export const createReadRunHandler =
  ({ runs }: { runs: Runs }): ServiceHandlers<typeof agent>['read'] =>
  async ({ runId, after }, { identity, signal }) =>
    runs.of(runId, identity).read(after, signal)

export const createStopRunHandler =
  ({ runs }: { runs: Runs }): ServiceHandlers<typeof agent>['stop'] =>
  async ({ runId }, { identity }) => {
    const run = runs.of(runId, identity)
    const stopped = !run.ended
    run.stop('requested')
    return { stopped }
  }
