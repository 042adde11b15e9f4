import type { Logger } from 'pino'
import type { z } from 'zod'
import {
  AlertSettings,
  CustomRule,
  DigestSettings,
  MaintenanceWindow,
  QuietHours,
  NotificationRoute,
  RuleSettings,
  SqlRule,
} from '#proto/alert-policy.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { Environment } from '#shared/config/environment.ts'
import type { RotatingKey } from '#shared/config/setting.ts'
import { readSealKey } from '#shared/seal/config.ts'
import type { PolicyStore, PolicyEntry, PolicyKind } from '../stores/stores.ts'
import { openLastKnownValue } from '#shared/store/last-known-value.ts'
import { buildEnvironmentLayer, findInvalidVariables } from './layers/environment.ts'
import { createEmptyLayer, type PolicyLayer, type ChannelLayer, toDigestMinutes } from './layers/layer.ts'
import { type MinSeverityLister, resolvePolicy } from './layers/resolve.ts'
import type { Policy } from '../policy.ts'
import { ChannelEntry, decryptChannelEntry, decryptTarget, TargetEntry } from './saved-channels/entries.ts'

/** The alert configuration from all sources. */
export interface PolicyProvider {
  current(): Promise<Policy>
  /** Returns the layers, the highest first. */
  layers(): Promise<readonly PolicyLayer[]>
  /** Invalidates the cache, so that the next call reads the database again. */
  changed(): void
}

interface PolicySources {
  env: Environment
  store: PolicyStore
  /** The layer of the alert files, which are read once at start. */
  file: PolicyLayer
  minSeveritiesOf: MinSeverityLister
  /** Returns the webhook subscriptions of users. */
  subscriptions?(): Promise<Policy['subscriptions']>
  /** Returns the installations of the Slack application. */
  chatApplications?(): Promise<Policy['chatApplications']>
  clock: Clock
  log: Logger
}

/**
 * Opens the alert configuration, merged from database, file and environment. While the database is unavailable, its
 * last known values are used.
 */
export const openPolicy = ({
  env,
  store,
  file,
  minSeveritiesOf,
  subscriptions = async () => [],
  chatApplications = async () => [],
  clock,
  log,
}: PolicySources): PolicyProvider => {
  for (const { name, sentence } of findInvalidVariables(env)) {
    log.warn({ variable: name, reason: sentence }, 'invalid setting ignored')
  }
  const warned = new Set<string>()
  const database = openLastKnownValue<PolicyLayer>({
    initial: createEmptyLayer('database'),
    clock,
    async read() {
      const { layer, unread } = buildDatabaseLayer(await store.all(), readSealKey(env))
      for (const entry of unread.filter((entry) => !warned.has(entry))) {
        warned.add(entry)
        log.warn({ entry }, 'unreadable alert setting ignored')
      }
      return layer
    },
    log,
    named: 'alert settings',
  })
  const layers = async (): Promise<readonly PolicyLayer[]> => [await database.get(), file, buildEnvironmentLayer(env)]

  return {
    layers,
    current: async () =>
      resolvePolicy(await layers(), env, minSeveritiesOf, {
        subscriptions: await subscriptions(),
        chatApplications: await chatApplications(),
      }),
    changed: () => database.changed(),
  }
}

/** Returns the database layer. Invalid entries, for example of a newer release, are skipped and listed in `unread`. */
export const buildDatabaseLayer = (
  entries: readonly PolicyEntry[],
  key?: RotatingKey,
): { layer: PolicyLayer; unread: string[] } => {
  const unread: string[] = []
  const of = <S extends z.ZodType>(kind: PolicyKind, schema: S): { id: string; value: z.output<S> }[] =>
    entries
      .filter((entry) => entry.kind === kind)
      .flatMap(({ id, body }) => {
        const { success, data } = schema.safeParse(body)
        if (!success) unread.push(`${kind} ${id}`)
        return success ? [{ id, value: data }] : []
      })
  const valuesOf = <S extends z.ZodType>(kind: PolicyKind, schema: S) => of(kind, schema).map(({ value }) => value)
  const byId = <S extends z.ZodType>(kind: PolicyKind, schema: S) =>
    Object.fromEntries(of(kind, schema).map(({ id, value }) => [id, value]))
  const channelLayer = ({ id, value }: { id: string; value: ChannelEntry }): [string, ChannelLayer] => {
    const { variables, sealed, ...settings } = value
    const { texts, unread: unreadable } = decryptChannelEntry(id, { variables, sealed }, key)
    unread.push(...unreadable.map((variable) => `channel ${id} ${variable}`))
    // If one secret cannot be decrypted, the other saved values are ignored too. Mixed with those of the operator, they
    // could send a saved secret to a different address.
    return [id, unreadable.length > 0 ? { ...settings, unreadable } : { ...settings, saved: texts }]
  }
  const webhookTarget = ({ id, value }: { id: string; value: TargetEntry }) => {
    const target = decryptTarget(id, value, key)
    if (!target) unread.push(`webhook-target ${id}`)
    return target ? [target] : []
  }
  const digest = valuesOf('digest', DigestSettings)[0]
  const layer: PolicyLayer = {
    ...createEmptyLayer('database'),
    general: valuesOf('general', AlertSettings)[0] ?? {},
    digestMinutes: digest && toDigestMinutes(digest),
    rules: byId('rule', RuleSettings),
    channels: Object.fromEntries(of('channel', ChannelEntry).map(channelLayer)),
    custom: valuesOf('custom-rule', CustomRule),
    sqlRules: valuesOf('sql-rule', SqlRule),
    maintenance: valuesOf('maintenance-window', MaintenanceWindow),
    quietHours: valuesOf('quiet-hours', QuietHours),
    routes: valuesOf('route', NotificationRoute),
    webhookTargets: of('webhook-target', TargetEntry).flatMap(webhookTarget),
  }
  return { layer, unread }
}
