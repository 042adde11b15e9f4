import type { Handlers } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import type { Parts } from '../parts.ts'

/** Returns the handler for the last probe results of all hosts; it sends no queries. */
export const fleet =
  ({ clock, hosts, probe }: Parts): Handlers<typeof query>['fleet'] =>
  async () =>
    hosts.list().map(({ id, key, name, group, tags }) => {
      const { state, load, checkedMs } = probe.known(key)
      const { checkedAtMs: _checkedAtMs, ...lastState } = state
      const ageMs = checkedMs === null ? null : Math.round(clock.elapsedMs() - checkedMs)
      return { id, key, name, group, tags: [...tags], ...lastState, ageMs, load }
    })
