import type { Handlers, Service } from '#proto/contract.ts'
import type { externalToolMethods } from '#proto/external-tools.ts'
import type { ExternalTools } from './open.ts'

/** What callers are told of tool servers. */
export const externalHandlers = ({
  external,
}: {
  external: ExternalTools
}): Handlers<Service<typeof externalToolMethods>> => ({
  probeServer: (server, call) => external.probe(server, call),
})
