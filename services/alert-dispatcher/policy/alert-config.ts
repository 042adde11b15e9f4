import { z } from 'zod'
import { quietHoursProblem } from '#proto/alert-policy.ts'
import { type AlertPolicy, type Settled, Settling } from '#proto/alerting.ts'
import type { Call } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { TargetSaving } from '#proto/webhook-targets.ts'
import { noSuch } from '#shared/text/no-such.ts'
import { type Alerting, type AlertingHandlers, requireLasting } from '../alerting.ts'
import { requireTemplates } from '../channels/formats/template.ts'
import { channels } from '../channels/index.ts'
import { readHeaders } from '../channels/webhook-target-list.ts'
import type { Standing } from '../stores/stores.ts'
import { describePolicy } from './describe-policy.ts'
import { isOtherOrigin, wrong } from './saved/refusals.ts'
import { channelEntry, requireAllowed, requireKey, type Saving, secretAgain } from './saved/save-channel.ts'
import { openTarget, targetEntry, TargetEntry } from './saved/entries.ts'
import { requireTarget, requireSoundRule, requireSoundSettings } from './warnings.ts'

const kind = 'webhook-target'

/** The entry of a webhook once this is saved. */
export const savedTarget = async ({ env, net, store }: Saving, saving: TargetSaving): Promise<TargetEntry> => {
  const { id, url, headers, templates = {} } = saving
  requireTemplates(templates)
  if (headers && !readHeaders(JSON.stringify(headers)))
    throw wrong('headers', 'must be at most 8 of Authorization and X-…, each of at most 1024 printable characters')
  if (url !== undefined && !/^https:/i.test(url)) throw wrong('url', 'must be an absolute URL with https')
  if (url !== undefined) await requireAllowed(net, 'url', url)
  const entries = await store.all()
  const before = TargetEntry.safeParse(entries.find((entry) => entry.kind === kind && entry.id === id)?.body).data
  const key = requireKey(env)
  if (url !== undefined && headers === undefined && before?.sealed.headers !== undefined) {
    if (isOtherOrigin(openTarget(id, before, key)?.saved?.url, url)) throw secretAgain('headers')
  }
  const entry = targetEntry(saving, before, key)
  if (!entry) throw wrong('url', 'is required')
  return entry
}

/** Checks what an operator settles against what there is, and keeps it. */
export const settle =
  (alerting: Alerting): AlertingHandlers['settle'] =>
  async ({ settling: shown, encrypted, mustBe }, call) => {
    const { stores, clock, policy, transit } = alerting
    requireLasting(stores, 'settling this')
    const settling = encrypted === undefined ? shown : withSecrets(shown, await transit.decrypt(encrypted, Secrets))
    const id = idOf(settling)
    const standing = mustBe === null ? undefined : requireStanding(settling, id, mustBe, await describedNow(alerting))
    await requireSound(alerting, settling, call)
    const body = await bodyOf(alerting, settling)
    if (!(await stores.policy.put(settling.kind, id, body, clock.now(), standing)))
      throw standing === 'absent' ? taken(settling, id) : noSuch(nouns[settling.kind], id, [], 'id')
    policy.changed()
    return describedNow(alerting)
  }

const Secrets = z.record(z.string(), z.json())

const withSecrets = (shown: Settling, secrets: z.output<typeof Secrets>): Settling =>
  Settling.parse({ ...shown, value: { ...shown.value, ...secrets } })

/** What is kept of it: secrets encrypted. */
const bodyOf = async ({ env, net, stores, policy }: Alerting, settling: Settling): Promise<unknown> => {
  const saving = { env, net, store: stores.policy }
  if (settling.kind === 'webhook-target') return savedTarget(saving, settling.value)
  if (settling.kind !== 'channel') return settling.value
  const channel = channels.find(({ id }) => id === settling.id)
  const { channels: settled } = await policy.current()
  return channel && channelEntry({ ...saving, fromFiles: settled[channel.id]?.fromFiles }, channel, settling.value)
}

/** Takes back what the database has, so that what the layers below say holds again. */
export const unsettle =
  (alerting: Alerting): AlertingHandlers['unsettle'] =>
  async ({ settled }) => {
    const { stores, policy } = alerting
    requireLasting(stores, 'settling this')
    const id = 'id' in settled ? settled.id : theOnly
    const isRemoved = await stores.policy.remove(settled.kind, id)
    // What there is one of is as it was before anybody settled it.
    if (!isRemoved && 'id' in settled) throw notOurs(settled, id, await describedNow(alerting))
    policy.changed()
    return describedNow(alerting)
  }

/** Id of what there is one of. */
const theOnly = 'all'

const idOf = (settling: Settling): string => {
  if ('id' in settling) return settling.id
  return 'id' in settling.value ? settling.value.id : theOnly
}

/** Ids that are settled of a kind, wherever. */
const known = (kind: Settling['kind'], described: AlertPolicy): { id: string; source?: string }[] => {
  switch (kind) {
    case 'custom-rule':
      return described.customRules
    case 'maintenance-window':
      return described.maintenanceWindows
    case 'quiet-hours':
      return described.quietHours
    case 'route':
      return described.routes
    case 'webhook-target':
      return described.targets
    case 'rule':
      return described.rules.map(({ ruleId }) => ({ id: ruleId }))
    case 'channel':
      return described.channels.map(({ channel, source }) => ({ id: channel, source }))
    default:
      return []
  }
}

const nouns: Readonly<Record<Settling['kind'], string>> = {
  general: 'setting',
  digest: 'digest',
  rule: 'setting of a rule',
  channel: 'setting of a channel',
  'custom-rule': 'custom rule',
  'maintenance-window': 'maintenance window',
  'quiet-hours': 'quiet hours',
  route: 'route',
  'webhook-target': 'webhook target',
}

/** Gives how it has to stand in the database still when it is written; what only a file has stands in no database. */
const requireStanding = (
  settling: Settling,
  id: string,
  mustBe: 'new' | 'known',
  described: AlertPolicy,
): Standing | undefined => {
  const entries = known(settling.kind, described)
  const found = entries.find((entry) => entry.id === id)
  if (mustBe === 'new') {
    if (found) throw taken(settling, id)
    return 'absent'
  }
  if (!found) {
    const ids = entries.map((entry) => entry.id)
    throw noSuch(nouns[settling.kind], id, ids, 'id')
  }
  return found.source === 'database' ? 'present' : undefined
}

const taken = ({ kind }: Settling, id: string): ServiceError =>
  new ServiceError('conflict', `there is a ${nouns[kind]} with the id ${id} already`, { details: { parameter: 'id' } })

/** What routes call the id. */
const parameters: Readonly<Partial<Record<Settled['kind'], string>>> = { rule: 'checkId', channel: 'channel' }

/** Why something could not be taken back: it comes from elsewhere, or there is no such thing. */
const notOurs = ({ kind }: Settled, id: string, described: AlertPolicy): ServiceError => {
  const entries = known(kind, described)
  const elsewhere = entries.find((entry) => entry.id === id)
  const parameter = parameters[kind] ?? 'id'
  const ids = entries.map((entry) => entry.id)
  if (!elsewhere) return noSuch(nouns[kind], id, ids, parameter)
  return new ServiceError('conflict', `${id} was not settled here: change it in the alert files or variables`, {
    details: { parameter, source: elsewhere.source },
  })
}

export const alertPolicy =
  (alerting: Alerting): AlertingHandlers['alertPolicy'] =>
  () =>
    describedNow(alerting)

/** All that is settled, as it holds now. */
const describedNow = async ({ env, policy: book, stores }: Alerting): Promise<AlertPolicy> => {
  const [layers, policy] = [await book.layers(), await book.current()]
  return describePolicy({ env, layers, policy, lasting: stores.lasting, channels })
}

/** Throws `invalid` for what contradicts itself, and `not-found` for names that nothing has. */
const requireSound = async (alerting: Alerting, settling: Settling, call: Call): Promise<void> => {
  const { env, policy } = alerting
  switch (settling.kind) {
    case 'rule':
      return requireRule(alerting, settling, call)
    case 'channel':
      return requireChannel(settling.id)
    case 'custom-rule':
      return requireCustomRule(alerting, settling.value, call)
    case 'quiet-hours':
      return requireHours(settling.value)
    case 'route':
      return requireTarget(settling.value.target, await policy.current(), env)
    default:
  }
}

const requireRule = async (
  { query, policy }: Alerting,
  { id, value }: Extract<Settling, { kind: 'rule' }>,
  call: Call,
): Promise<void> => {
  const [{ rules }, { custom }] = await Promise.all([query.rules({}, call), policy.current()])
  const rule = rules.find((each) => each.id === id)
  if (rule) return requireSoundSettings(rule, value)
  const own = custom.find((each) => each.id === id)
  if (!own)
    throw noSuch(
      'rule',
      id,
      [...rules, ...custom].map((each) => each.id),
      'checkId',
    )
  const { operator, warning, critical } = own
  requireSoundSettings({ thresholds: { warning, critical, below: operator === '<' || operator === '<=' } }, value)
}

const requireChannel = (channel: string): void => {
  const ids = channels.map(({ id }) => id)
  if (!ids.includes(channel)) throw noSuch('channel', channel, ids, 'channel')
}

const requireCustomRule = async (
  { query }: Alerting,
  rule: Extract<Settling, { kind: 'custom-rule' }>['value'],
  call: Call,
): Promise<void> => {
  const { metrics } = await query.rules({}, call)
  const ids = metrics.map(({ id }) => id)
  if (!ids.includes(rule.metric)) throw noSuch('metric', rule.metric, ids, 'metric')
  requireSoundRule(rule)
}

const requireHours = (hours: Extract<Settling, { kind: 'quiet-hours' }>['value']): void => {
  const problem = quietHoursProblem(hours)
  if (problem !== undefined) throw new ServiceError('invalid', `end ${problem}`, { details: { parameter: 'end' } })
}
