import type { Logger } from 'pino'
import type { z } from 'zod'
import {
  AlertSettings,
  CustomRule,
  DigestSettings,
  MaintenanceWindow,
  QuietHours,
  Route,
  RuleSettings,
} from '#proto/alert-policy.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { Environment } from '#shared/config/environment.ts'
import type { RotatingKey } from '#shared/config/setting.ts'
import { sealKey } from '#shared/seal/config.ts'
import type { PolicyStore, PolicyEntry, PolicyKind } from '../stores/stores.ts'
import { openLastKnown } from '../last-known.ts'
import { environmentLayer, invalidVariables } from './layers/environment.ts'
import { emptyLayer, type Layer, type ChannelLayer, digestMinutesOf } from './layers/layer.ts'
import { type FloorsOf, resolvePolicy } from './layers/resolve.ts'
import type { Policy } from '../policy.ts'
import { ChannelEntry, openEntry, openTarget, TargetEntry } from './saved/entries.ts'

/** What operators have settled, from all places. */
export interface PolicyBook {
  current(): Promise<Policy>
  /** What each place says, the highest first. */
  layers(): Promise<readonly Layer[]>
  /** What the database said is read anew before it is used again. */
  changed(): void
}

interface Places {
  env: Environment
  store: PolicyStore
  /** Read once. */
  file: Layer
  floorsOf: FloorsOf
  /** Webhooks that people brought. */
  subscriptions?(): Promise<Policy['subscriptions']>
  /** Chats that people installed the chat application for. */
  chatApplications?(): Promise<Policy['chatApplications']>
  clock: Clock
  log: Logger
}

/** Brings database, file and environment together. While the database does not answer, what it said last holds. */
export const openPolicy = ({
  env,
  store,
  file,
  floorsOf,
  subscriptions = async () => [],
  chatApplications = async () => [],
  clock,
  log,
}: Places): PolicyBook => {
  for (const { name, sentence } of invalidVariables(env)) {
    log.warn({ variable: name, reason: sentence }, 'variable cannot be meant; its default stands in')
  }
  const warned = new Set<string>()
  const database = openLastKnown<Layer>({
    initial: emptyLayer('database'),
    clock,
    async read() {
      const { layer, unread } = databaseLayer(await store.all(), sealKey(env))
      for (const entry of unread.filter((entry) => !warned.has(entry))) {
        warned.add(entry)
        log.warn({ entry }, 'saved alert setting cannot be read and is ignored')
      }
      return layer
    },
    log,
    named: 'settings of alerts',
  })
  const layers = async (): Promise<readonly Layer[]> => [await database.get(), file, environmentLayer(env)]

  return {
    layers,
    current: async () =>
      resolvePolicy(await layers(), env, floorsOf, {
        subscriptions: await subscriptions(),
        chatApplications: await chatApplications(),
      }),
    changed: () => database.changed(),
  }
}

/** What operators settled through the API. Entries that this release does not understand are left out and named. */
export const databaseLayer = (
  entries: readonly PolicyEntry[],
  key?: RotatingKey,
): { layer: Layer; unread: string[] } => {
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
    const { texts, unread: unreadable } = openEntry(id, { variables, sealed }, key)
    unread.push(...unreadable.map((variable) => `channel ${id} ${variable}`))
    // What is left of them would be mixed with the operator's own: a saved secret could go to an address that it was not saved for.
    return [id, unreadable.length > 0 ? { ...settings, unreadable } : { ...settings, saved: texts }]
  }
  const webhookTarget = ({ id, value }: { id: string; value: TargetEntry }) => {
    const target = openTarget(id, value, key)
    if (!target) unread.push(`webhook-target ${id}`)
    return target ? [target] : []
  }
  const digest = valuesOf('digest', DigestSettings)[0]
  const layer: Layer = {
    ...emptyLayer('database'),
    general: valuesOf('general', AlertSettings)[0] ?? {},
    digestMinutes: digest && digestMinutesOf(digest),
    rules: byId('rule', RuleSettings),
    channels: Object.fromEntries(of('channel', ChannelEntry).map(channelLayer)),
    custom: valuesOf('custom-rule', CustomRule),
    maintenance: valuesOf('maintenance-window', MaintenanceWindow),
    quietHours: valuesOf('quiet-hours', QuietHours),
    routes: valuesOf('route', Route),
    webhookTargets: of('webhook-target', TargetEntry).flatMap(webhookTarget),
  }
  return { layer, unread }
}
