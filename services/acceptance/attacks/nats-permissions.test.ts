import { expect, it } from 'vitest'
import { type ServiceName, serviceNames } from '#proto/call.ts'
import type { BusEvent, Service } from '#proto/contract.ts'
import { describeWith } from '../../testing/describe-with.ts'
import { listAttackedPatterns, listAttackedSubjects, listJetStreamSubjects } from './nats-subjects.ts'
import {
  unrestrictedPermissions,
  type ObservedNats,
  recordSubjects,
  flushConnections,
  startObservedNats,
} from './nats-observed-server.ts'

/** Returns whether a user may publish to a subject, according to the contracts and the role of its service. */
const intended = (
  user: string,
  subject: string,
  { contracts, events }: Pick<ObservedNats, 'contracts' | 'events'>,
): boolean => {
  if (user.endsWith('-streams')) return streamSubjects[user]?.some((pattern) => pattern.test(subject)) ?? false
  const caller = serviceNames.find((name) => name === user.replace(/-guest$/, ''))
  if (caller === undefined) throw new Error(`no service uses the NATS user "${user}"`)
  return isEvent(user, caller, subject, events) || isRequest(caller, subject, contracts)
}

const isEvent = (user: string, caller: ServiceName, subject: string, events: readonly BusEvent[]): boolean =>
  events.some(({ name, publishers }) => subject === `event.${user}.${name}` && publishers.includes(caller))

const isRequest = (caller: ServiceName, subject: string, contracts: readonly Service[]): boolean => {
  const [root, service, named, method = ''] = subject.split('.')
  const callers = contracts.find(({ name }) => name === service)?.methods[method]?.callers ?? []
  return root === 'svc' && named === caller && callers.includes(caller)
}

const deadLetters = (stream: string) => new RegExp(`^\\$JS\\.API\\.STREAM\\.(INFO|MSG\\.GET|MSG\\.DELETE)\\.${stream}$`)
const taken = (stream: string, names: string) => [
  new RegExp(`^\\$JS\\.API\\.CONSUMER\\.(INFO|MSG\\.NEXT)\\.${stream}\\.${names}$`),
  new RegExp(`^\\$JS\\.ACK\\.${stream}\\.${names}\\.1\\.1\\.1\\.1\\.0$`),
]
const streamSubjects: Readonly<Record<string, readonly RegExp[]>> = {
  'gateway-streams': [
    /^\$JS\.API\.INFO$/,
    /^\$JS\.API\.STREAM\.(CREATE|UPDATE|INFO)\.(EVENTS|EVENTS_DLQ)$/,
    /^\$JS\.API\.CONSUMER\.CREATE\.EVENTS\.events-(kept|reemitted|alerted)\.inbound\.x$/,
  ],
  'ingest-streams': [
    /^\$JS\.API\.INFO$/,
    /^inbound\.a\.b$/,
    /^dead\.inbound\.a\.b$/,
    deadLetters('EVENTS_DLQ'),
    ...taken('EVENTS', 'events-(kept|reemitted)'),
  ],
  'alert-dispatcher-streams': [/^\$JS\.API\.INFO$/, /^dead\.inbound\.a\.b$/, ...taken('EVENTS', 'events-alerted')],
}

describeWith(['nats'], 'each NATS user', () => {
  it(
    'publishes to the subjects that its work needs, and to no other',
    { tags: ['long'], timeout: 240_000 },
    async () => {
      await using ground = await startObservedNats()
      const subjects = listAttackedSubjects(ground.contracts, ground.events)
      expect(subjects.length).toBeGreaterThan(4_000)
      for (const [user, { account }] of Object.entries(ground.declared.users)) {
        const observer = await ground.observe(account)
        const received = recordSubjects(observer)
        const attacker = await ground.as(user)
        for (const subject of subjects) attacker.publish(subject, user)
        await flushConnections(attacker, observer)
        const reached = [...(received.subjects.get(user) ?? [])]
        const meant = subjects.filter((subject) => intended(user, subject, ground))
        expect(reached.toSorted(), user).toEqual([...new Set(meant)].toSorted())
        await observer.close()
      }
    },
  )

  it('receives only its own requests, inbox and events', { tags: ['long'], timeout: 240_000 }, async () => {
    await using ground = await startObservedNats()
    const patterns = listAttackedPatterns(ground.contracts, ground.events)
    for (const [user, { permissions }] of Object.entries(ground.declared.users)) {
      const received: string[] = []
      for (const pattern of patterns) {
        const attacker = await ground.as(user)
        let refused = false
        attacker.subscribe(pattern, { callback: (error) => void (refused ||= error !== null) })
        await flushConnections(attacker)
        await attacker.close()
        if (!refused) received.push(pattern)
      }
      const own = permissions.subscribe.allow.filter((allowed) => patterns.includes(allowed))
      expect(received.toSorted(), user).toEqual(
        patterns.filter((pattern) => isHeard(user, pattern, ground.events)).toSorted(),
      )
      expect(received, user).toEqual(expect.arrayContaining(own))
    }
  })

  it('reaches streams only by its own calls, even when its permissions allow everything', async () => {
    await using ground = await startObservedNats((declared) => ({
      ...declared,
      users: Object.fromEntries(
        Object.entries(declared.users).map(([user, { account }]) => [
          user,
          { account, permissions: unrestrictedPermissions },
        ]),
      ),
    }))
    const before = await ground.streams()
    const observer = await ground.observe('STREAMS')
    const received = recordSubjects(observer)
    const subjects = listAttackedSubjects(ground.contracts, ground.events).filter(
      (subject) => !crossesAccounts.test(subject),
    )
    for (const user of Object.keys(ground.declared.users)) {
      const attacker = await ground.as(user)
      // This user installs the streams, so it may create and update them.
      if (user === 'gateway-streams') continue
      for (const subject of subjects) attacker.publish(subject, user)
      await flushConnections(attacker, observer)
      const reached = [...(received.subjects.get(user) ?? [])]
      expect(
        reached.filter((subject) => !user.endsWith('-streams') || !intended(user, subject, ground)),
        user,
      ).toEqual([])
    }
    expect(await ground.streams()).toEqual(before)
  })

  it('gets no response from the JetStream API to calls of other users', async () => {
    await using ground = await startObservedNats()
    for (const user of Object.keys(ground.declared.users)) {
      const attacker = await ground.as(user)
      const foreign = listJetStreamSubjects().filter((subject) => !intended(user, subject, ground))
      const answers = await Promise.allSettled(
        foreign.map((subject) => attacker.request(subject, '{}', { timeout: 1_500 })),
      )
      const answered = foreign.filter((_subject, index) => answers[index]?.status === 'fulfilled')
      expect(answered, user).toEqual([])
    }
  })
})

/**
 * Subjects that servers before 2.10.27 and 2.11.1 accept from every account (CVE-2025-30215). Permissions block them.
 */
const crossesAccounts = /^\$JS\.API\.(ACCOUNT|SERVER|META)\./

/**
 * Returns whether a user may subscribe to a pattern. A service may receive the events that it subscribes to. A guest
 * may receive announcements and the events for guests.
 */
const isHeard = (user: string, pattern: string, events: readonly BusEvent[]): boolean => {
  if (pattern === `_INBOX.${user}.instance.>`) return true
  if (user.endsWith('-streams')) return false
  const event = events.find(({ name }) => pattern.startsWith('event.') && pattern.endsWith(`.${name}`))
  if (event !== undefined) return isListener(user, event)
  if (user.endsWith('-guest')) return pattern === `svc.${user.replace('-guest', '')}.*.*._guest`
  return pattern.startsWith(`svc.${user}.`)
}

const isListener = (user: string, { name, listeners }: BusEvent): boolean =>
  user.endsWith('-guest') ? name.startsWith('instance.') : listeners.some((listener) => listener === user)
