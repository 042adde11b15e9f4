import type { Handlers } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import type { Parts } from '../handlers/parts.ts'

/** Every host as the last probes found it; nobody is asked now. */
export const fleet =
  ({ clock, hosts, probe }: Parts): Handlers<typeof query>['fleet'] =>
  async () =>
    hosts.list().map((host) => {
      const { checkedAtMs, ...state } = probe.state(host)
      const ageMs = checkedAtMs === null ? null : clock.now() - checkedAtMs
      return { ...state, ageMs, group: host.group, tags: [...host.tags], load: probe.load(host.key) }
    })
