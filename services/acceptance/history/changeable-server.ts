import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { queryClickHouse } from '../../testing/fetch-json.ts'
import { reserveFreePort } from '../../testing/servers/port.ts'
import { usersConfig } from '../containers/cluster-config.ts'
import { fetchPythonPackage, findServerLibrary, startPackagedServer } from '../containers/python-package-cluster.ts'

/** A real server whose configuration and version can change. */
export interface ChangeableServer extends AsyncDisposable {
  url: string
  /** The directory of the configuration and the data. */
  directory: string
  /** Writes a file of the configuration. */
  write(path: string, text: string): Promise<void>
  /** Restarts the server with this version. */
  restart(version: string): Promise<void>
  kill(): Promise<void>
}

/** Starts a real server of this version. */
export const startChangeableServer = async (version: string): Promise<ChangeableServer> => {
  await fetchPythonPackage(version)
  let directory = ''
  let library = findServerLibrary(version) ?? ''
  const server = await startPackagedServer({
    library: () => library,
    name: 'changeable',
    ports: { native: await reserveFreePort(), interserver: await reserveFreePort() },
    files: (path) => {
      directory = path
      return { 'users.d/default-user.xml': usersConfig }
    },
  })
  await queryClickHouse(server.url, 'SYSTEM FLUSH LOGS')
  return {
    url: server.url,
    directory,
    async write(path, text) {
      await mkdir(dirname(join(directory, path)), { recursive: true })
      await writeFile(join(directory, path), text)
    },
    async restart(next) {
      await fetchPythonPackage(next)
      library = findServerLibrary(next) ?? ''
      await server.restart()
    },
    kill: () => server.kill(),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}
