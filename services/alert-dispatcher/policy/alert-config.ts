import { z } from 'zod'
import { findQuietHoursProblem, type SqlRule } from '#proto/alert-policy.ts'
import { type AlertPolicy, type AlertConfigKey, AlertConfigUpdate } from '#proto/alerting.ts'
import type { CallContext } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { WebhookTargetInput } from '#proto/webhook-targets.ts'
import { createNotFoundError } from '#shared/text/not-found.ts'
import { type AlertingDeps, type AlertingHandlers, requireStateDatabase } from '../alerting.ts'
import { requireKnownPlaceholders } from '../channels/formats/template.ts'
import { channels } from '../channels/index.ts'
import { parseWebhookHeaders } from '../channels/webhook-target-list.ts'
import type { ExpectedState } from '../stores/stores.ts'
import { describePolicy } from './describe-policy.ts'
import { isOtherOrigin, createInvalidParameterError } from './saved-channels/errors.ts'
import {
  buildChannelEntry,
  requireAllowedAddress,
  requireEncryptionKey,
  type SaveDeps,
  createSecretRequiredError,
} from './saved-channels/save-channel.ts'
import { decryptTarget, buildTargetEntry, TargetEntry } from './saved-channels/entries.ts'
import { requireTarget, toThresholds, validateOwnRule, validateRuleSettings } from './warnings.ts'

const kind = 'webhook-target'

export const prepareTargetEntry = async (saving: SaveDeps, deps: WebhookTargetInput): Promise<TargetEntry> => {
  const { env, store, isCallerLocal = false } = saving
  const { id, url, headers, templates = {} } = deps
  requireKnownPlaceholders(templates)
  if (headers && !parseWebhookHeaders(JSON.stringify(headers)))
    throw createInvalidParameterError(
      'headers',
      'must be at most 8 headers named Authorization or X-…, each of at most 1024 printable characters',
    )
  // Servers on the machine of the caller rarely have a certificate.
  if (url !== undefined && !(isCallerLocal ? /^https?:/i : /^https:/i).test(url))
    throw createInvalidParameterError('url', 'must be an absolute URL with https')
  if (url !== undefined) await requireAllowedAddress(saving, 'url', url)
  const entries = await store.all()
  const before = TargetEntry.safeParse(entries.find((entry) => entry.kind === kind && entry.id === id)?.body).data
  const key = requireEncryptionKey(env)
  if (url !== undefined && headers === undefined && before?.sealed.headers !== undefined) {
    if (isOtherOrigin(decryptTarget(id, before, key)?.saved?.url, url)) throw createSecretRequiredError('headers')
  }
  const entry = buildTargetEntry(deps, before, { key, isCallerLocal })
  if (!entry) throw createInvalidParameterError('url', 'is required')
  return entry
}

/** Validates a configuration change, stores it and returns the resulting configuration. */
export const createUpdateAlertConfigHandler =
  (alerting: AlertingDeps): AlertingHandlers['updateAlertConfig'] =>
  async ({ update: shown, encrypted, mustBe, isCallerLocal }, call) => {
    const { stores, clock, policy, transit } = alerting
    requireStateDatabase(stores, 'saving alert configuration')
    const update = encrypted === undefined ? shown : addSecrets(shown, await transit.decrypt(encrypted, Secrets))
    const id = idOf(update)
    const expected =
      mustBe === null ? undefined : requireExpectedState(update, id, mustBe, await describeCurrentPolicy(alerting))
    await validateChange(alerting, update, call)
    const body = await buildEntryBody(alerting, update, isCallerLocal)
    if (!(await stores.policy.put(update.kind, id, body, clock.now(), expected)))
      throw expected === 'absent'
        ? createAlreadyExistsError(update, id)
        : createNotFoundError(nouns[update.kind], id, [], 'id')
    policy.changed()
    return describeCurrentPolicy(alerting)
  }

const Secrets = z.record(z.string(), z.json())

const addSecrets = (shown: AlertConfigUpdate, secrets: z.output<typeof Secrets>): AlertConfigUpdate =>
  AlertConfigUpdate.parse({ ...shown, value: { ...shown.value, ...secrets } })

/** Returns the stored form of a change, with encrypted secrets. */
const buildEntryBody = async (
  { env, net, stores, policy }: AlertingDeps,
  update: AlertConfigUpdate,
  isCallerLocal: boolean,
): Promise<unknown> => {
  const deps = { env, net, store: stores.policy, isCallerLocal }
  if (update.kind === 'webhook-target') return prepareTargetEntry(deps, update.value)
  if (update.kind !== 'channel') return update.value
  const channel = channels.find(({ id }) => id === update.id)
  const { channels: configured } = await policy.current()
  return channel && buildChannelEntry({ ...deps, fromFiles: configured[channel.id]?.fromFiles }, channel, update.value)
}

/** Deletes an entry from the database, so that files, variables or defaults apply again. */
export const createDeleteAlertConfigHandler =
  (alerting: AlertingDeps): AlertingHandlers['deleteAlertConfig'] =>
  async ({ key }) => {
    const { stores, policy } = alerting
    requireStateDatabase(stores, 'saving alert configuration')
    const id = 'id' in key ? key.id : singletonId
    const isRemoved = await stores.policy.remove(key.kind, id)
    // Deleting a singleton that was never stored changes nothing.
    if (!isRemoved && 'id' in key) throw createUndeletableError(key, id, await describeCurrentPolicy(alerting))
    policy.changed()
    return describeCurrentPolicy(alerting)
  }

/** Id of kinds with a single entry. */
const singletonId = 'all'

const idOf = (update: AlertConfigUpdate): string => {
  if ('id' in update) return update.id
  return 'id' in update.value ? update.value.id : singletonId
}

/** Returns all configured entries of a kind, from any source. */
const listKnownEntries = (
  kind: AlertConfigUpdate['kind'],
  described: AlertPolicy,
): { id: string; source?: string }[] => {
  switch (kind) {
    case 'custom-rule':
      return described.customRules
    case 'sql-rule':
      return described.sqlRules
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

const nouns: Readonly<Record<AlertConfigUpdate['kind'], string>> = {
  general: 'setting',
  digest: 'digest',
  rule: 'rule setting',
  channel: 'channel setting',
  'custom-rule': 'custom rule',
  'sql-rule': 'SQL rule',
  'maintenance-window': 'maintenance window',
  'quiet-hours': 'quiet hours',
  route: 'route',
  'webhook-target': 'webhook target',
}

/** Returns the state that the stored entry must still have on writing; undefined for entries from files. */
const requireExpectedState = (
  update: AlertConfigUpdate,
  id: string,
  mustBe: 'new' | 'known',
  described: AlertPolicy,
): ExpectedState | undefined => {
  const entries = listKnownEntries(update.kind, described)
  const found = entries.find((entry) => entry.id === id)
  if (mustBe === 'new') {
    if (found) throw createAlreadyExistsError(update, id)
    return 'absent'
  }
  if (!found) {
    const ids = entries.map((entry) => entry.id)
    throw createNotFoundError(nouns[update.kind], id, ids, 'id')
  }
  return found.source === 'database' ? 'present' : undefined
}

const createAlreadyExistsError = ({ kind }: AlertConfigUpdate, id: string): ServiceError =>
  new ServiceError('conflict', `${nouns[kind]} "${id}" already exists; choose another id`, {
    details: { parameter: 'id' },
  })

/** Names of the id parameter in HTTP routes, by kind; default: `id`. */
const parameters: Readonly<Partial<Record<AlertConfigKey['kind'], string>>> = { rule: 'checkId', channel: 'channel' }

/** Returns why an entry cannot be deleted: another source manages it, or it does not exist. */
const createUndeletableError = ({ kind }: AlertConfigKey, id: string, described: AlertPolicy): ServiceError => {
  const entries = listKnownEntries(kind, described)
  const elsewhere = entries.find((entry) => entry.id === id)
  const parameter = parameters[kind] ?? 'id'
  const ids = entries.map((entry) => entry.id)
  if (!elsewhere) return createNotFoundError(nouns[kind], id, ids, parameter)
  return new ServiceError('conflict', `cannot delete "${id}": managed by a file or variable; edit it there`, {
    details: { parameter, source: elsewhere.source },
  })
}

export const createAlertPolicyHandler =
  (alerting: AlertingDeps): AlertingHandlers['alertPolicy'] =>
  () =>
    describeCurrentPolicy(alerting)

/** Returns the current configuration. */
const describeCurrentPolicy = async ({ env, policy: book, stores }: AlertingDeps): Promise<AlertPolicy> => {
  const [layers, policy] = [await book.layers(), await book.current()]
  return describePolicy({ env, layers, policy, isPersistent: stores.isPersistent, channels })
}

/** Throws `invalid` for contradictory values and `not-found` for unknown names. */
const validateChange = async (alerting: AlertingDeps, update: AlertConfigUpdate, call: CallContext): Promise<void> => {
  const { env, policy } = alerting
  switch (update.kind) {
    case 'rule':
      return requireRule(alerting, update, call)
    case 'channel':
      return requireChannel(update.id)
    case 'custom-rule':
      return requireCustomRule(alerting, update.value, call)
    case 'sql-rule':
      return requireSqlRule(alerting, update.value, call)
    case 'quiet-hours':
      return requireHours(update.value)
    case 'route':
      return requireTarget(update.value.target, await policy.current(), env)
    default:
  }
}

const requireRule = async (
  { query, policy }: AlertingDeps,
  { id, value }: Extract<AlertConfigUpdate, { kind: 'rule' }>,
  call: CallContext,
): Promise<void> => {
  const [{ rules }, { custom, sqlRules }] = await Promise.all([query.rules({}, call), policy.current()])
  const rule = rules.find((each) => each.id === id)
  if (rule) return validateRuleSettings(rule, value)
  const own = [...custom, ...sqlRules].find((each) => each.id === id)
  if (!own)
    throw createNotFoundError(
      'rule',
      id,
      [...rules, ...custom, ...sqlRules].map((each) => each.id),
      'checkId',
    )
  validateRuleSettings({ thresholds: toThresholds(own) }, value)
}

const requireChannel = (channel: string): void => {
  const ids = channels.map(({ id }) => id)
  if (!ids.includes(channel)) throw createNotFoundError('channel', channel, ids, 'channel')
}

const requireCustomRule = async (
  { query }: AlertingDeps,
  rule: Extract<AlertConfigUpdate, { kind: 'custom-rule' }>['value'],
  call: CallContext,
): Promise<void> => {
  const { metrics } = await query.rules({}, call)
  const ids = metrics.map(({ id }) => id)
  if (!ids.includes(rule.metric)) throw createNotFoundError('metric', rule.metric, ids, 'metric')
  validateOwnRule(rule)
}

/** Throws `invalid` for a statement that does not only read, or for contradictory thresholds. */
export const requireSqlRule = async (
  { query }: Pick<AlertingDeps, 'query'>,
  rule: Omit<SqlRule, 'id'>,
  call: CallContext,
): Promise<void> => {
  validateOwnRule(rule)
  await query.checkRuleStatement({ sql: rule.sql }, call).catch((error: unknown) => {
    // The guard names the parameter of statements that callers run.
    if (!(error instanceof ServiceError) || error.details?.parameter !== 'query') throw error
    throw new ServiceError(error.code, error.message.replace(/^query:/, 'sql:'), {
      details: { ...error.details, parameter: 'sql' },
    })
  })
}

const requireHours = (hours: Extract<AlertConfigUpdate, { kind: 'quiet-hours' }>['value']): void => {
  const problem = findQuietHoursProblem(hours)
  if (problem !== undefined) throw new ServiceError('invalid', `end ${problem}`, { details: { parameter: 'end' } })
}
