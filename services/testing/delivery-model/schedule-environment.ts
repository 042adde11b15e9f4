import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { CompletedDelivery } from '#proto/delivery.ts'
import type { Store } from '#shared/store/store.ts'
import { readEntry } from '../../alert-dispatcher/events/event-buckets.ts'
import { deriveEntryId } from '../../alert-dispatcher/events/event-entry.ts'
import { testEvent } from '../../alert-dispatcher/testing/inbound.ts'
import { type Dispatcher, type DispatcherEnvironment, openDispatcher } from './dispatcher.ts'
import { type FinalState, createSendKey } from './invariants.ts'
import { openFakeTargets, targetNames } from './fake-targets.ts'

/** The store and the state database of a schedule. */
export interface ScheduleStores extends AsyncDisposable {
  openStore(): Promise<Store>
  database: DispatcherEnvironment['database']
  /** Deletes all data in the store. */
  flush(): Promise<void>
  /** Returns the ids of the messages in the outbox, including claimed ones. */
  waiting(): Promise<readonly string[]>
  /** One function per server, which kills it with SIGKILL and restarts it. */
  crash?: readonly (() => Promise<void>)[]
}

export const eventKeys = ['k0', 'k1', 'k2'] as const
const faultMs = 60
const tickEveryMs = 50
const deliveredWithinMs = 60_000
const onRecordWithinMs = 5_000

/** The environment of a schedule: its dispatchers, targets, clock and faults. */
export class ScheduleEnvironment implements AsyncDisposable {
  readonly targets = openFakeTargets()
  readonly faults: DispatcherEnvironment['faults']
  readonly log: string[] = []
  readonly dispatchers = new Set<Dispatcher>()
  readonly #place: ScheduleStores
  readonly #ground: DispatcherEnvironment
  readonly #truth: Pick<FinalState, 'cutsMs' | 'lossesMs' | 'unknownMs'> = { cutsMs: [], lossesMs: [], unknownMs: [] }
  /** Promises by event key. Each resolves when all events of the key so far were accepted. */
  readonly #taken = new Map<string, Promise<void>>()
  readonly #began = performance.now()
  readonly #ticking: NodeJS.Timeout
  readonly #inTick = new WeakSet<Dispatcher>()
  #clockAheadMs = 0
  #occurredAt = Date.now()
  #isOver = false

  constructor(place: ScheduleStores, telemetry: DispatcherEnvironment['telemetry'], chance: () => number) {
    this.faults = { storeIsCut: false, databaseIsDown: false, storeRefuses: false, chance }
    this.#place = place
    const clock = { now: () => Date.now() + this.#clockAheadMs, elapsedMs: () => performance.now() }
    this.#ground = { ...place, clock, targets: this.targets, telemetry, faults: this.faults }
    this.#ticking = setInterval(() => {
      for (const dispatcher of this.dispatchers) void this.#tick(dispatcher)
    }, tickEveryMs)
  }

  note(what: string): void {
    this.log.push(`${Math.round(performance.now() - this.#began)} ms ${what}`)
  }

  sendsInWords(): string[] {
    return this.targets.sends.map(({ target, kind, sequence, episode, taken, beganMs }) => {
      const at = `${Math.round(beganMs - this.#began)} ms`
      return `${at}: ${target} ${taken ? 'took' : 'did not take'} ${kind} ${sequence} of ${episode}`
    })
  }

  /** Starts a dispatcher. Retries until the servers are available. */
  async start(): Promise<void> {
    while (!this.#isOver) {
      const opened = await openDispatcher(this.#ground).catch(() => undefined)
      if (opened && this.#isOver) return opened.stop()
      if (opened) return void this.dispatchers.add(opened)
      await wait(25)
    }
  }

  /** Kills or stops the oldest dispatcher. Starts a new one if none is left. */
  async end(how: 'kill' | 'stop'): Promise<void> {
    const [dispatcher] = this.dispatchers
    if (!dispatcher) return
    this.dispatchers.delete(dispatcher)
    if (how === 'kill') this.#truth.cutsMs.push(performance.now())
    await Promise.resolve(dispatcher[how]()).catch(() => {})
    if (this.dispatchers.size === 0) void this.start()
  }

  /** Sends an event repeatedly until a dispatcher accepts it. Events with the same key stay in order. */
  send(dedupKey: string, status: 'firing' | 'resolved', severity: 'warning' | 'critical'): void {
    this.#occurredAt += 1
    const at = { occurredAt: this.#occurredAt, receivedAt: this.#occurredAt }
    const event = { ...testEvent, id: randomUUID(), dedupKey, title: dedupKey, status, severity, ...at }
    const untilTaken = async () => {
      for (let limitMs = 1_000; !this.#isOver; await wait(15)) {
        const dispatchers = [...this.dispatchers]
        const taking = dispatchers[Math.floor(Math.random() * dispatchers.length)]?.take(event).then(
          () => true,
          () => false,
        )
        const answer = await Promise.race([taking, wait(limitMs, 'none' as const)])
        if (answer === true) return
        // Doubles the timeout, because repeating the event at a constant rate would overload a busy process.
        if (answer === 'none') limitMs *= 2
      }
    }
    this.note(`${status} ${severity} ${dedupKey}`)
    this.#taken.set(dedupKey, (this.#taken.get(dedupKey) ?? Promise.resolve()).then(untilTaken))
  }

  setClock(byMs: number): void {
    this.#clockAheadMs += byMs
  }

  /** Makes the store unreachable or read-only for a short time. */
  trouble(fault: 'storeIsCut' | 'storeRefuses'): void {
    if (fault === 'storeIsCut') this.#truth.unknownMs.push(performance.now())
    this.faults[fault] = true
    setTimeout(() => (this.faults[fault] = false), faultMs)
  }

  /** Empties the store once the database has all data of the store; otherwise messages would be lost. */
  async flush(): Promise<void> {
    await this.heal()
    const until = performance.now() + onRecordWithinMs
    while (!(await this.#isOnRecord())) {
      if (performance.now() > until) return this.note('not flushed')
      await wait(25)
    }
    this.#truth.cutsMs.push(performance.now())
    await retry(() => this.#place.flush())
    this.#truth.lossesMs.push(performance.now())
    this.note('flushed')
  }

  /** Ends all faults except those of the targets, and waits until all events were accepted. */
  async heal(): Promise<void> {
    Object.assign(this.faults, { storeIsCut: false, databaseIsDown: false, storeRefuses: false })
    await Promise.all(this.#taken.values())
  }

  /** Waits until the outbox stays empty, and returns the final state. Throws after a minute. */
  async waitUntilDelivered(): Promise<FinalState> {
    const { targets, dispatchers } = this
    for (const name of targetNames) targets.modes.set(name, 'ok')
    const end = performance.now() + deliveredWithinMs
    let lastTick: unknown = 'no dispatcher runs'
    const tick = async (): Promise<boolean | undefined> => {
      try {
        const [dispatcher] = dispatchers
        const hasLease = await dispatcher?.tick()
        if (dispatcher) lastTick = hasLease ? 'ok' : 'the lease is taken'
        return hasLease
      } catch (error) {
        lastTick = error
        return false
      }
    }
    // A tick restores open episodes to an emptied store.
    while (!(await tick()) && performance.now() < end) await wait(20)
    for (let emptyFor = 0; emptyFor < 6; await wait(50)) {
      await tick()
      const waiting = await retry(() => this.#place.waiting())
      emptyFor = waiting.length === 0 ? emptyFor + 1 : 0
      if (performance.now() > end)
        throw new Error(`not delivered after a minute: messages [${waiting.join(', ')}], last tick: ${lastTick}`)
    }
    const rows = (await [...dispatchers][0]?.onRecord().catch(() => undefined))?.rows ?? []
    for (const { result, target, kind, sequence, episode, reason } of rows)
      this.log.push(`on record: ${result} ${target} ${kind} ${sequence} of ${episode} ${reason ?? ''}`)
    return { ...this.#truth, open: await this.#openEpisodes(), targets: targetNames, sent: listSentKeys(rows) }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true
    clearInterval(this.#ticking)
    for (const dispatcher of this.dispatchers) await dispatcher.stop().catch(() => {})
  }

  /** Runs a tick unless the last one of this dispatcher is still running. */
  async #tick(dispatcher: Dispatcher): Promise<void> {
    if (this.#inTick.has(dispatcher)) return
    this.#inTick.add(dispatcher)
    await dispatcher.tick().catch(() => {})
    this.#inTick.delete(dispatcher)
  }

  async #isOnRecord(): Promise<boolean> {
    const [dispatcher] = this.dispatchers
    const record = await dispatcher?.onRecord().catch(() => undefined)
    if (!record) return false
    const open = [...(await this.#openEpisodes())]
    const lines = listSentKeys(record.rows)
    const sent = this.targets.sends.filter(({ taken, isAnswered }) => taken && isAnswered)
    return (
      open.length === record.open.size &&
      open.every(([episode, sequence]) => record.open.get(episode) === sequence) &&
      sent.every((send) => lines.has(createSendKey(send)) && record.known.has(send.episode))
    )
  }

  /** Returns the sequence number of the last notification, by open episode. */
  async #openEpisodes(): Promise<Map<string, number>> {
    await using store = await retry(() => this.#place.openStore())
    const open = new Map<string, number>()
    for (const dedupKey of eventKeys) {
      const place = deriveEntryId({ source: testEvent.source, dedupKey })
      const { condition = null } = (await retry(() => readEntry(store, place))) ?? {}
      if (condition?.lastNotification) open.set(condition.episode, condition.sequence - 1)
    }
    return open
  }
}

const listSentKeys = (rows: readonly CompletedDelivery[]): Set<string> =>
  new Set(rows.flatMap((row) => (row.result === 'sent' ? [createSendKey(row)] : [])))

/** Retries a failed request every 50 ms, up to 100 times, because the store may be busy or restarting. */
const retry = async <T>(run: () => Promise<T>): Promise<T> => {
  for (let tries = 0; ; tries += 1) {
    try {
      return await run()
    } catch (error) {
      if (tries > 100) throw error
      await wait(50)
    }
  }
}
