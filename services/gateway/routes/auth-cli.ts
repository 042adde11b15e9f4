import { CliDiscovery } from '#proto/http/auth.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { cliDiscovery } from '../auth/discovery.ts'
import { getRoute } from '../route.ts'

/** How a command line signs in here. */
export const authCli = getRoute({
  path: '/api/v1/auth/cli',
  doc: 'How a command-line client may authenticate here',
  feature: null,
  access: 'anonymous',
  limit: 'data',
  query: noQuery,
  answer: CliDiscovery,
  handle: async (_asked, gateway) => cliDiscovery(gateway),
})
