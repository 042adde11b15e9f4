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
import type { RotatingKey } from '#shared/config/setting.ts'
import { ChannelEntry, openEntry } from '../saved/channel-entry.ts'
import { openTarget, TargetEntry } from '../saved/target-entry.ts'
import { type ChannelLayer, digestMinutesOf, emptyLayer, type Layer } from './layer.ts'
import type { PolicyEntry, PolicyKind } from '../../stores/stores.ts'

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
