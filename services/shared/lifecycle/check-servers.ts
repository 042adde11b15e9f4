import { ServiceError } from '#proto/errors.ts'
import { connectToNats } from '../bus/nats-connection.ts'
import { parseServerAddress, formatServerName } from '../bus/durable/nats-failure.ts'
import { openJetStream } from '../bus/durable/nats-streams.ts'
import type { Environment } from '../config/environment.ts'
import { processSettings } from '../config/process.ts'
import { InvalidSettings, findSettingProblems, parseSettings } from '../config/setting.ts'
import { connectRedis } from '../store/redis/connection.ts'
import { formatDatabaseName } from '../store/sql/failure.ts'
import { readStateDatabase } from '../store/sql/state-database.ts'

/** The output of a check and whether it passed. */
interface CheckResult {
  isValid: boolean
  text: string
}

/**
 * Connects to every configured server: state database, Redis and NATS. The output has one line per server, with its
 * state or its problem.
 */
export const checkServers = async (env: Environment): Promise<CheckResult> => {
  const problems = findSettingProblems(processSettings, env)
  if (problems.length > 0) return { isValid: false, text: formatProblemLines(problems) }
  const found = await runChecks(env, { checksStreams: true })
  const lines = found.flatMap(({ text }) => (text === '' ? [] : [text]))
  const isValid = found.every((each) => each.isValid)
  return { isValid, text: lines.join('') || 'no server is configured: state is kept in memory\n' }
}

/** Returns the problem of each configured server that does not respond. */
export const findServerProblems = async (env: Environment): Promise<string[]> =>
  (await runChecks(env, { checksStreams: false })).flatMap(({ isValid, text }) => (isValid ? [] : text.trim()))

/** Connects to every configured server. With `checksStreams`, NATS must also permit the use of streams. */
const runChecks = async (env: Environment, { checksStreams }: { checksStreams: boolean }): Promise<CheckResult[]> => {
  const { REDIS_URL, NATS_URL, NATS_STREAMS_URL } = parseSettings(processSettings, env)
  const streams = NATS_STREAMS_URL ?? NATS_URL
  const checks = [checkDatabase(env)]
  if (REDIS_URL) checks.push(checkRedis(REDIS_URL.href))
  if (streams) checks.push(checkNats(streams.href, { isForStreams: checksStreams }))
  if (NATS_URL && NATS_URL !== streams) checks.push(checkNats(NATS_URL.href, { isForStreams: false }))
  return Promise.all(checks.map(runCheck))
}

const runCheck = async (check: Promise<string | undefined>): Promise<CheckResult> => {
  try {
    const answered = await check
    return { isValid: true, text: answered === undefined ? '' : `${answered}: connected\n` }
  } catch (error) {
    if (error instanceof InvalidSettings) return { isValid: false, text: formatProblemLines(error.problems) }
    if (error instanceof ServiceError) return { isValid: false, text: `${error.message}\n` }
    throw error
  }
}

const formatProblemLines = (problems: InvalidSettings['problems']): string =>
  problems.map(({ name, sentence }) => `${name}: ${sentence}\n`).join('')

const checkDatabase = async (env: Environment): Promise<string | undefined> => {
  const where = readStateDatabase(env)
  if (where === undefined) return undefined
  const { openDatabase } = await import('../store/sql/connection.ts')
  await using _database = await openDatabase(where)
  return `state database "${formatDatabaseName(where)}"`
}

const checkRedis = async (url: string): Promise<string> => {
  const client = await connectRedis(url)
  client.disconnect()
  return `Redis "${new URL(url).host}"`
}

const checkNats = async (url: string, { isForStreams }: { isForStreams: boolean }): Promise<string> => {
  const { connection } = await connectToNats({ url }, { caller: 'gateway', instance: 'check-config' })
  try {
    if (isForStreams) await openJetStream(connection)
  } finally {
    await connection.close()
  }
  return formatServerName(parseServerAddress(url))
}
