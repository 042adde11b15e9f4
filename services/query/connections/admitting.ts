import type { Call } from '#proto/call.ts'
import type { Handlers } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import type { Hosts } from '../hosts/hosts.ts'
import type { BroughtHosts } from './brought-hosts.ts'

type QueryHandlers = Handlers<typeof query>

/** The same handlers, each beginning by opening the connections that came with its call. */
export const admitting = (handlers: QueryHandlers, brought: BroughtHosts): QueryHandlers => {
  const wrapped = Object.entries(handlers).map(([method, handle]) => [
    method,
    async (input: never, call: Call) => {
      for (const connection of call.connections?.values() ?? []) await brought.admit(connection)
      return handle(input, call)
    },
  ])
  // The names are those of `handlers`, and each function takes and returns what the one under its name does.
  return Object.fromEntries(wrapped) as QueryHandlers
}

/** The configured hosts, and by their keys those that people brought. */
export const withBrought = (hosts: Hosts, brought: BroughtHosts): Hosts => ({
  ...hosts,
  get: (key) => brought.get(key) ?? hosts.get(key),
})
