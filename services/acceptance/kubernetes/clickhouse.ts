import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { retryUntil } from '../../testing/fetch-json.ts'
import { formatLocalServerConfig, localUsersConfig } from '../containers/local-server-config.ts'
import { fetchPythonPackage, findServerLibrary, pythonCommand } from '../containers/python-package-cluster.ts'
import type { Machine } from './machine.ts'
import { monitoringUser } from './surroundings.ts'

const version = '25.8'
const ports = { http: 8123, native: 9000, interserver: 9009 }
const readyWithinMs = 120_000

/** Starts a ClickHouse server on a machine, outside of its pods. */
export const startClickHouse = async (machine: Machine): Promise<void> => {
  await fetchPythonPackage(version)
  const library = findServerLibrary(version)
  if (library === undefined) throw new Error(`the Python package of version "${version}" contains no library`)
  const directory = join(machine.directory, 'clickhouse')
  const files = {
    'config.xml': formatLocalServerConfig(directory, ports),
    'config.d/listen.xml': `<clickhouse><listen_host>${machine.address}</listen_host></clickhouse>\n`,
    'users.xml': localUsersConfig,
    'users.d/watch.xml': usersConfig,
  }
  for (const folder of ['config.d', 'users.d']) await mkdir(join(directory, folder), { recursive: true })
  for (const [path, text] of Object.entries(files)) await writeFile(join(directory, path), text)
  const command = pythonCommand(library, `--config-file=${join(directory, 'config.xml')}`)
  await machine.start('clickhouse', command, { PATH: process.env.PATH ?? '', CLICKHOUSE_WATCHDOG_ENABLE: '0' })
  const ping = ['curl', '--silent', '--max-time', '5', `http://${machine.address}:${ports.http}/ping`]
  await retryUntil(
    () => machine.run(ping).catch(String),
    (answer) => answer.startsWith('Ok'),
    readyWithinMs,
  )
}

/** The user of the product. */
const usersConfig = `<clickhouse>
  <users>
    <default><password></password></default>
    <${monitoringUser.name}>
      <password>${monitoringUser.password}</password>
      <networks><ip>::/0</ip></networks>
      <profile>default</profile>
      <quota>default</quota>
      <grants><query>GRANT SELECT ON *.*</query><query>GRANT SHOW ON *.*</query></grants>
    </${monitoringUser.name}>
  </users>
</clickhouse>
`
