import { ServiceError } from '#proto/errors.ts'
import type { Environment } from '#shared/config/environment.ts'
import { InvalidSettings } from '#shared/config/setting.ts'
import type { Telemetry } from '#shared/telemetry/telemetry.ts'
import { systemClock } from '#shared/time/clock.ts'
import { type DatabaseClient, openClient } from '../clickhouse/client.ts'
import { toGrantStatements } from '../clickhouse/show-privileges.ts'
import type { MonitoredHost } from './host-list.ts'
import { openHosts } from './hosts.ts'

const answerWithinMs = 10_000

/** Connects to every configured host. Returns a line per host: version and missing grants, or the error. */
export const checkHosts = async (
  env: Environment,
  telemetry: Telemetry,
): Promise<{ isValid: boolean; text: string }> => {
  try {
    await using hosts = await openHosts({ env, log: telemetry.log })
    await using client = openClient({ env, telemetry, clock: systemClock })
    const found = await Promise.all(hosts.list().map((host) => checkHost(client, host)))
    return { isValid: found.every(({ isValid }) => isValid), text: found.map(({ line }) => `${line}\n`).join('') }
  } catch (error) {
    if (!(error instanceof InvalidSettings)) throw error
    return { isValid: false, text: error.problems.map(({ name, sentence }) => `${name}: ${sentence}\n`).join('') }
  }
}

const checkHost = async (client: DatabaseClient, host: MonitoredHost) => {
  const context = {
    signal: AbortSignal.timeout(answerWithinMs),
    deadline: systemClock.elapsedMs() + answerWithinMs,
    priority: 'sweep',
  } as const
  try {
    const { version, missingShow } = await client.capabilities(host, context)
    const grants = toGrantStatements(missingShow).map((grant) => `; rows are hidden from its user: run ${grant}`)
    return { isValid: true, line: `host "${host.name}": connected, ClickHouse ${version}${grants.join('')}` }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return { isValid: false, line: error.message }
  }
}
