import { setTimeout as wait } from 'node:timers/promises'
import { styleText } from 'node:util'
import type { Client } from '../../client/client.ts'
import { RequestError } from '../../client/failure.ts'
import type { CommandContext } from '../context.ts'
import { exitCodes, toExitCode } from '../exit-codes.ts'
import { forEachHost, type HostEntry } from '../hosts.ts'
import type { Output } from '../output/output.ts'
import { renderTop, type TopView } from './render.ts'
import { loadRunningQueries, type RunningQuery } from './running-query.ts'
import { openScreen } from './screen.ts'
import { createTopState, pressKey, type Effect, type Key, type TopState } from './state.ts'

interface TopOptions {
  context: CommandContext
  client: Client
  output: Output
  hosts: readonly HostEntry[]
  intervalMs: number
}

/** Shows the running queries until the user quits. Restores the terminal before it returns or fails. */
export const runTop = async ({ context, client, output, hosts, intervalMs }: TopOptions): Promise<void> => {
  const { stdin, stdout } = context
  const ended = new AbortController()
  const signal = AbortSignal.any([context.signal, ended.signal])
  let state = createTopState()
  let wake = new AbortController()
  const view = createView(output, hosts, intervalMs)
  const draw = (): void =>
    screen.draw(renderTop(state, Object.assign(view, { columns: screen.columns, rows: screen.rows })))
  const update = (change: Partial<TopState>): void => {
    if (signal.aborted) return
    state = { ...state, ...change }
    draw()
  }
  const kill = async (query: RunningQuery): Promise<void> => {
    update({ message: await killQuery(client, query) })
    wake.abort()
  }
  const effects: Readonly<Record<Effect['kind'], (effect: Effect) => void>> = {
    quit: () => ended.abort(),
    refresh: () => wake.abort(),
    kill: (effect) => void ('query' in effect && kill(effect.query)),
  }
  const onKey = (key: Key): void => {
    const pressed = pressKey(state, key)
    state = pressed.state
    if (pressed.effect) effects[pressed.effect.kind](pressed.effect)
    if (!ended.signal.aborted) draw()
  }
  const screen = openScreen({ stdin, stdout, onKey, onResize: () => draw() })
  try {
    draw()
    while (!signal.aborted) {
      const startedMs = performance.now()
      const { change, delayMs } = state.isPaused ? { change: {}, delayMs: 0 } : await refresh(client, hosts, signal)
      update(change)
      wake = new AbortController()
      const restMs = Math.max(delayMs, intervalMs - (performance.now() - startedMs), minPauseMs)
      await wait(restMs, undefined, { signal: AbortSignal.any([signal, wake.signal]) }).catch(() => undefined)
    }
  } finally {
    screen[Symbol.dispose]()
  }
  if (context.signal.aborted && !ended.signal.aborted) context.setExitCode(exitCodes.interrupted)
}

/** The least time between two refreshes, however slow the server is. */
const minPauseMs = 100

const createView = ({ paint, hasColors }: Output, hosts: readonly HostEntry[], intervalMs: number): TopView => ({
  columns: 0,
  rows: 0,
  hosts: hosts.map(({ name }) => name),
  intervalMs,
  formatTime: (instantMs) => new Date(instantMs).toTimeString().slice(0, 8),
  paint,
  invert: (text) => (hasColors ? styleText('inverse', text, { validateStream: false }) : `\u001B[7m${text}\u001B[27m`),
})

interface Refresh {
  change: Partial<TopState>
  /** How long the server wants no further request. */
  delayMs: number
}

/** Loads the running queries of all hosts. If hosts fail, those of the others are shown with the reason. */
const refresh = async (client: Client, hosts: readonly HostEntry[], signal: AbortSignal): Promise<Refresh> => {
  const results = await forEachHost(hosts, (host) => loadRunningQueries(client, host, signal))
  const queries = results.flatMap((result) => ('value' in result ? result.value : []))
  const failures = results.flatMap((result) => ('error' in result ? [result] : []))
  const [first] = failures
  if (!first) return { change: { queries, failure: null, updatedAtMs: Date.now() }, delayMs: 0 }
  if (toExitCode(first.error) === exitCodes.unauthorized && !signal.aborted) throw first.error
  const message = first.error instanceof Error ? first.error.message : String(first.error)
  const failure = hosts.length === 1 ? message : `${first.host.name}: ${message}`
  const delayMs = first.error instanceof RequestError ? (first.error.retryAfterMs ?? 0) : 0
  // The last list stays visible while no host responds.
  const change = failures.length === hosts.length ? { failure } : { queries, failure, updatedAtMs: Date.now() }
  return { change, delayMs }
}

const killQuery = async (client: Client, { hostId, queryId }: RunningQuery): Promise<string> => {
  try {
    const { message } = await client.call('POST /api/v1/actions', {
      query: { hostId },
      body: { action: 'killQuery', params: { queryId } },
    })
    return message
  } catch (error) {
    return `not killed: ${error instanceof Error ? error.message : String(error)}`
  }
}
