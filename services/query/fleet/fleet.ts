import type { Handlers } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import type { Parts } from '../handlers/parts.ts'

/** Every host as the last probes found it; nobody is asked now. */
export const fleet =
  ({ clock, hosts, probe }: Parts): Handlers<typeof query>['fleet'] =>
  async () =>
    hosts.list().map(({ id, key, name, group, tags }) => {
      const { state, load } = probe.known(key)
      const { checkedAtMs, ...told } = state
      const ageMs = checkedAtMs === null ? null : clock.now() - checkedAtMs
      return { id, key, name, group, tags: [...tags], ...told, ageMs, load }
    })
