import type { agent } from '#proto/agent.ts'
import type { Handlers } from '#proto/contract.ts'
import type { Parts } from '../parts.ts'

export const read =
  ({ runs }: Parts): Handlers<typeof agent>['read'] =>
  async ({ runId, after }, { identity, signal }) =>
    runs.of(runId, identity).read(after, signal)

export const stop =
  ({ runs }: Parts): Handlers<typeof agent>['stop'] =>
  async ({ runId }, { identity }) => {
    const run = runs.of(runId, identity)
    const stopped = !run.ended
    run.stop('asked')
    return { stopped }
  }
