import { formatInboxPrefix, createSubjectMatcher } from './subject.ts'
import type { ServiceInstance, Hub, PublishOptions, Subscription, Wire, WireMessage } from './wire.ts'

/** A hub in memory, for a process that runs all services without a NATS server. */
export type MemoryHub = Hub

/** The default limit of a NATS server, so that a single process does not accept larger messages than a cluster. */
const maxMessageBytes = 1024 * 1024
/** Maximum deliveries per event-loop iteration, so that timers and sockets are processed in between. */
const maxDeliveriesPerIteration = 256
/** Maximum cached subjects. Few are in use, because inbox addresses are reused. */
const maxCachedSubjects = 1_024

interface Member {
  matches(subject: string): boolean
  queueGroup: string | undefined
  listener(message: WireMessage): void
}

/** The open subscriptions of a hub. */
interface Members {
  add(member: Member): void
  delete(member: Member): void
  /** Returns the members whose pattern matches. */
  matching(subject: string): readonly Member[]
}

const openMembers = (): Members => {
  const members = new Set<Member>()
  const byRecentSubject = new Map<string, readonly Member[]>()
  return {
    add(member) {
      members.add(member)
      byRecentSubject.clear()
    },
    delete(member) {
      members.delete(member)
      byRecentSubject.clear()
    },
    matching(subject) {
      const known = byRecentSubject.get(subject)
      if (known) return known
      if (byRecentSubject.size >= maxCachedSubjects) byRecentSubject.clear()
      const found = [...members].filter((member) => member.matches(subject))
      byRecentSubject.set(subject, found)
      return found
    },
  }
}

/** Opens a hub that all buses of a process share. Messages are copied and arrive later, never inside `publish`. */
export const openMemoryHub = (): MemoryHub => {
  const members = openMembers()
  const turns = new Map<string, number>()
  const schedule = createDeliveryScheduler()

  /** Returns the receivers of a message: all members without a queue group, and one member per group, in rotation. */
  const receivers = (subject: string): readonly Member[] => {
    const receivers = members.matching(subject)
    if (receivers.length <= 1) return receivers
    const groups = Map.groupBy(receivers, (member) => member.queueGroup)
    return [...groups].flatMap(([group, equals]) => (group === undefined ? equals : [nextOf(group, equals)]))
  }
  const nextOf = (group: string, equals: Member[]): Member => {
    const turn = turns.get(group) ?? 0
    turns.set(group, turn + 1)
    const chosen = equals[turn % equals.length]
    if (!chosen) throw new Error(`queue group "${group}" has no members`)
    return chosen
  }
  const publish = (subject: string, body: Uint8Array, { headers = {}, reply }: PublishOptions = {}): void => {
    if (body.byteLength > maxMessageBytes)
      throw new Error(`message too large: ${body.byteLength} bytes; the maximum is ${maxMessageBytes}`)
    const found = receivers(subject)
    if (found.length === 0 && reply !== undefined) return reportUnheard(reply)
    const message = { subject, body: Buffer.from(body), headers: { ...headers }, reply, unheard: false }
    for (const member of found) schedule(() => member.listener(message))
  }
  const reportUnheard = (reply: string): void => {
    const message = { subject: reply, body: new Uint8Array(0), headers: {}, reply: undefined, unheard: true }
    for (const member of receivers(reply)) schedule(() => member.listener(message))
  }
  const passed = () => new Promise<void>((resolve) => schedule(resolve))
  return { connect: async (endpoint) => new MemoryWire(endpoint, members, publish, passed) }
}

class MemoryWire implements Wire {
  readonly connected = true
  readonly inbox: string
  readonly #all: Members
  readonly #publish: (subject: string, body: Uint8Array, options?: PublishOptions) => void
  readonly #passed: () => Promise<void>
  readonly #own = new Set<Member>()
  #open = true

  constructor(
    { caller, instance }: ServiceInstance,
    all: Members,
    publish: Wire['publish'],
    passed: () => Promise<void>,
  ) {
    this.inbox = formatInboxPrefix(caller, instance)
    this.#all = all
    this.#publish = publish
    this.#passed = passed
  }

  publish(subject: string, body: Uint8Array, options?: PublishOptions): void {
    if (this.#open) this.#publish(subject, body, options)
  }

  subscribe(pattern: string, listener: (message: WireMessage) => void, queueGroup?: string): Subscription {
    const deliver = (message: WireMessage) => void (this.#open && listener(message))
    const member: Member = { matches: createSubjectMatcher(pattern), listener: deliver, queueGroup }
    this.#all.add(member)
    this.#own.add(member)
    const drain = async () => {
      this.#all.delete(member)
      this.#own.delete(member)
      await this.#passed()
    }
    return { drain }
  }

  async flush(): Promise<void> {}

  onConnection(): void {}

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#passed()
    this.#open = false
    for (const member of this.#own) this.#all.delete(member)
  }
}

/** Returns a scheduler that runs deliveries asynchronously and in order, and yields to timers and sockets regularly. */
const createDeliveryScheduler = (): ((deliver: () => void) => void) => {
  let waiting: (() => void)[] = []
  let planned = false
  let deliveredThisTurn = 0

  const run = () => {
    planned = false
    const due = waiting
    waiting = []
    deliveredThisTurn += due.length
    for (const deliver of due) deliver()
  }
  const runNextTurn = () => {
    deliveredThisTurn = 0
    run()
  }
  return (deliver) => {
    waiting.push(deliver)
    if (planned) return
    planned = true
    // Microtasks are faster, but would starve timers and sockets without a limit.
    if (deliveredThisTurn < maxDeliveriesPerIteration) queueMicrotask(run)
    else setImmediate(runNextTurn)
  }
}
