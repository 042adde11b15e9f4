import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { inspect } from 'node:util'
import { ServiceError } from '#proto/errors.ts'
import { openMetricSampler } from './asynchronous-metrics.ts'
import { prepareDirectory } from './directory.ts'
import { type Engine, exitImmediately, startEngine, loadEngineLibrary } from './engine.ts'
import { readMachineCounters } from './machine.ts'
import { parseHostOptions } from './options.ts'
import { seedOnce } from './seed/seed.ts'
import { type StatementExecutor, createExecutor } from './statement.ts'
import { listUsers } from './users.ts'

const LAST_STATEMENTS_TIMEOUT_MS = 4000

const stop = Promise.withResolvers<void>()
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop.resolve())
// Emitted when the parent process ends, for any reason.
process.on('disconnect', () => stop.resolve())
// Writing fails when the reader of the output has ended.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => stop.resolve())
process.on('uncaughtException', fail)

const countersAtStart = readMachineCounters(performance.now())
loadEngineLibrary()
await serve().catch(fail)

async function serve(): Promise<void> {
  const options = parseHostOptions(process.argv.slice(2), process.env)
  const users = listUsers(options.password)
  // The host's own statements run as a separate user, whose password stays in this process.
  const owner = { user: 'sandbox', password: randomUUID(), profile: 'default' as const }
  const directory = prepareDirectory(options, [...users, owner])
  const engine = await startEngine(directory)
  const execute = createExecutor(engine.port, owner)
  if (directory.fresh) await execute('SYSTEM FLUSH LOGS', { settings: { log_queries: 0 } })
  const sampler = await openMetricSampler(execute, directory.data, countersAtStart)
  announce({ listening: { url: `http://127.0.0.1:${engine.port}` } })
  const seeding = options.seed ? seedOnce(execute, users, directory) : Promise.resolve()
  const seeded = seeding.then(() => announce({ seeded: true }))
  await Promise.race([stop.promise, engine.ended, seeded.then(() => stop.promise)])
  await sampler.close()
  await close(engine, execute)
}

function fail(error: unknown): void {
  // The engine has logged why it ended, so a stack trace would add nothing.
  process.stderr.write(`${error instanceof ServiceError ? error.message : inspect(error)}\n`)
  // After an uncaught error Node would wait for the engine's thread, which does not end.
  exitImmediately(1)
}

function announce(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

async function close(engine: Engine, execute: StatementExecutor): Promise<void> {
  const silent = { settings: { log_queries: 0 } }
  const last = execute("KILL QUERY WHERE user != 'sandbox' ASYNC FORMAT Null", silent)
    .then(() => execute('SYSTEM FLUSH LOGS', silent))
    .then(() => 0)
  const code = await Promise.race([last, pause(LAST_STATEMENTS_TIMEOUT_MS, 0), engine.ended.then(() => 1)]).catch(
    () => 1,
  )
  exitImmediately(code)
}
