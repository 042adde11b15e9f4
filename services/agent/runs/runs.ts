import { randomBytes } from 'node:crypto'
import type { agent } from '#proto/agent.ts'
import type { Identity } from '#proto/call.ts'
import type { Handlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { ownerOf, Run, type RunLimits, runLimits } from './run.ts'

/** What a run does; it has told all when this resolves, and is expected to resolve soon once its signal aborts. */
type Work = (run: Run) => Promise<void>

/** The runs of this process. */
export interface Runs extends AsyncDisposable {
  /** Those that have not ended. */
  readonly running: number
  /** Begins one; throws `busy` when there are `most` of them, or when the process stops. */
  start(identity: Identity, most: number, work: Work): Run
  /** The run of this id; throws `gone` when there is none, or it is somebody else's. */
  of(id: string, identity: Identity): Run
}

interface RunsOptions {
  instance: string
  limits?: Partial<RunLimits>
  /** How long runs may go on once the process stops. */
  graceMs(): number
}

const idBytes = 16
const busyRetryMs = 2_000

/** Disposing lets the runs there are end within the grace, and then stops them. */
export const openRuns = ({ instance, graceMs, ...options }: RunsOptions): Runs => {
  const limits = { ...runLimits, ...options.limits }
  const kept = new Map<string, Run>()
  const working = new Map<Run, Promise<void>>()
  let isStopping = false

  const carryOut = async (run: Run, work: Work): Promise<void> => {
    await work(run)
    run.end()
    working.delete(run)
    setTimeout(() => kept.delete(run.id), limits.keptMs).unref()
  }

  return {
    get running() {
      return working.size
    },
    start(identity, most, work) {
      if (isStopping || working.size >= most) {
        const sentence = isStopping
          ? 'this process of the agent is about to stop'
          : 'the agent answers as many questions as it can'
        throw new ServiceError('busy', `${sentence}; try again shortly`, { retryAfterMs: busyRetryMs })
      }
      const run = new Run(`${instance}.${randomBytes(idBytes).toString('base64url')}`, identity, limits)
      kept.set(run.id, run)
      working.set(run, carryOut(run, work))
      return run
    },
    of(id, identity) {
      const run = kept.get(id)
      if (run && run.owner === ownerOf(identity)) return run
      throw new ServiceError('gone', 'nothing is kept of this run any more; ask again')
    },
    async [Symbol.asyncDispose]() {
      isStopping = true
      const late = setTimeout(() => {
        for (const run of working.keys()) run.stop('stopping')
      }, graceMs())
      await Promise.all(working.values())
      clearTimeout(late)
      kept.clear()
    },
  }
}

export const read =
  ({ runs }: { runs: Runs }): Handlers<typeof agent>['read'] =>
  async ({ runId, after }, { identity, signal }) =>
    runs.of(runId, identity).read(after, signal)

export const stop =
  ({ runs }: { runs: Runs }): Handlers<typeof agent>['stop'] =>
  async ({ runId }, { identity }) => {
    const run = runs.of(runId, identity)
    const stopped = !run.ended
    run.stop('asked')
    return { stopped }
  }
