import { serviceNames } from '#proto/call.ts'
import type { BusEvent, Service } from '#proto/contract.ts'
import { consumerPlans, streamServices } from '#shared/bus/durable/stream-access.ts'
import { streamNames, streamConfigs } from '#shared/bus/durable/streams.ts'
import { formatStreamUserName } from '#shared/bus/accounts.ts'

/** Returns the subjects that an attacker tries to publish to: those of the product and of the NATS server. */
export const listAttackedSubjects = (contracts: readonly Service[], events: readonly BusEvent[]): string[] => [
  ...contracts.flatMap(listRequestSubjects),
  ...[...events.map(({ name }) => name), 'unknown.happened'].flatMap(listEventSubjects),
  ...listJetStreamSubjects(),
  ...acknowledgements(),
  ...streamNames.flatMap((name) => streamConfigs[name].subjects.map((subject) => subject.replace('>', 'a.b'))),
  ...listInboxSubjects(),
  ...serverSubjects,
]

/** Returns the request subjects of a service: every method, with every service as the caller. */
const listRequestSubjects = ({ name, methods }: Service): string[] =>
  [...Object.keys(methods), 'unknown'].flatMap((method) =>
    serviceNames.flatMap((caller) => {
      const subject = `svc.${name}.${caller}.${method}`
      return [subject, `${subject}.instance`, `${subject}._guest`, `${subject}._guest.instance`]
    }),
  )

/** Returns the subjects of an event: the legacy subject without a sender, and one per sender. */
const listEventSubjects = (name: string): string[] => [
  `event.${name}`,
  ...[...serviceNames, 'query-guest', 'unknown'].map((sender) => `event.${sender}.${name}`),
]

const streamCalls = 'CREATE UPDATE INFO DELETE PURGE SNAPSHOT RESTORE PEER.REMOVE LEADER.STEPDOWN MSG.GET MSG.DELETE'
const consumerCalls = 'CREATE DURABLE.CREATE INFO DELETE MSG.NEXT LEADER.STEPDOWN PAUSE RESET UNPIN'
const wholeStreamCalls = 'CONSUMER.CREATE CONSUMER.NAMES CONSUMER.LIST DIRECT.GET STREAM.TEMPLATE.DELETE'
const accountCalls =
  'INFO STREAM.NAMES STREAM.LIST STREAM.TEMPLATE.NAMES META.LEADER.STEPDOWN SERVER.REMOVE ACCOUNT.PURGE.STREAMS ACCOUNT.STREAM.MOVE.STREAMS.EVENTS'

/**
 * Returns the subjects of all JetStream API calls, for the streams and consumers of the product and for unknown ones.
 */
export const listJetStreamSubjects = (): string[] => {
  const known = [...streamNames, 'KV_settings', 'OBJ_files', 'EVIL']
  const taken = [...consumerPlans, ...streamNames.map((stream) => ({ stream, name: 'evil', subjects: 'svc.>' }))]
  return [
    ...words(accountCalls).map((call) => `$JS.API.${call}`),
    ...known.flatMap((name) => words(streamCalls).map((call) => `$JS.API.STREAM.${call}.${name}`)),
    ...known.flatMap((name) => words(wholeStreamCalls).map((call) => `$JS.API.${call}.${name}`)),
    ...taken.flatMap(({ stream, name }) =>
      words(consumerCalls).map((call) => `$JS.API.CONSUMER.${call}.${stream}.${name}`),
    ),
    ...taken.map(({ stream, name }) => `$JS.API.CONSUMER.CREATE.${stream}.${name}.svc.x`),
    ...taken.map(
      ({ stream, name, subjects }) => `$JS.API.CONSUMER.CREATE.${stream}.${name}.${subjects.replace('>', 'x')}`,
    ),
    ...streamNames.map((name) => `$JS.API.DIRECT.GET.${name}.svc.x`),
  ]
}

const acknowledgements = (): string[] => [
  ...consumerPlans.map(({ stream, name }) => `$JS.ACK.${stream}.${name}.1.1.1.1.0`),
  ...streamNames.map((stream) => `$JS.ACK.${stream}.evil.1.1.1.1.0`),
]

/** Returns inbox subjects: one per user, and the default ones of NATS clients. */
const listInboxSubjects = (): string[] => {
  const users = [...serviceNames, 'query-guest', ...streamServices.map(formatStreamUserName), 'another']
  return [...users.map((user) => `_INBOX.${user}.instance.1`), '_R_.abcdef.1', '_GR_.a.b', '_INBOX.x']
}

const serverSubjects = [
  '$SYS.REQ.SERVER.PING',
  '$SYS.REQ.ACCOUNT.STREAMS.INFO',
  '$SYS.REQ.USER.INFO',
  '$SYS.ACCOUNT.STREAMS.DISCONNECT',
  '$SYS._INBOX.a',
  '$JS.FC.EVENTS.evil.1',
  '$JS.SNAPSHOT.RESTORE.EVENTS.a',
  '$JS.EVENT.ADVISORY.STREAM.CREATED.EVENTS',
  '$JSC.R.a',
  '$NRG.V.a',
  '$KV.settings.a',
  '$O.files.C.a',
  '$SRV.PING',
  '$MQTT.sub.a',
  'anything',
]

const words = (text: string): string[] => text.split(' ')

/** Returns the patterns that an attacker tries to subscribe to. */
export const listAttackedPatterns = (contracts: readonly Service[], events: readonly BusEvent[]): string[] => [
  '>',
  '*',
  '*.>',
  '*.*.*.*',
  'svc.>',
  'event.>',
  'event.mcp.>',
  ...events.flatMap(({ name }) => [`event.*.${name}`, `event.mcp.${name}`]),
  ...contracts.flatMap(({ name }) => [
    `svc.${name}.>`,
    `svc.${name}.*.*`,
    `svc.${name}.*.*._guest`,
    `svc.${name}.gateway.>`,
  ]),
  ...listInboxSubjects().map((inbox) => inbox.replace(/\.[^.]+$/, '.>')),
  '_INBOX.>',
  '_R_.>',
  '$JS.>',
  '$JS.API.>',
  '$JS.ACK.>',
  '$JS.EVENT.ADVISORY.>',
  '$SYS.>',
  '$KV.>',
  '$O.>',
  '$SRV.>',
  ...streamNames.flatMap((name) => streamConfigs[name].subjects),
]
