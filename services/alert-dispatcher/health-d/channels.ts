import { z } from 'zod'
import type { Settings } from '#shared/config/setting.ts'
import type { ChannelLayer } from '../layers/layer.ts'
import { type Document, listOf } from './entries.ts'
import type { Report } from './report.ts'
import { FileChannel } from './shapes.ts'

/** What a channel is called, and the variables that it reads. */
export interface ChannelSpec {
  id: string
  settings: Settings
}

/** What a file says of channels. Its fields are the channel's variables: `routingKey` stands for `…_ROUTING_KEY`. */
export const channelLayers = (
  document: Document,
  report: Report,
  known: readonly ChannelSpec[],
): Record<string, ChannelLayer> => {
  const schema = FileChannel.extend({ channel: z.enum(known.map(({ id }) => id)) })
  const entries = listOf(document, { key: 'channels', schema, idOf: ({ channel }) => channel }, report)
  return Object.fromEntries(
    known.flatMap((spec) => {
      const entry = entries.find(({ channel }) => channel === spec.id)
      return entry ? [[spec.id, channelLayer(spec, entry, report)] as const] : []
    }),
  )
}

const channelLayer = (
  spec: ChannelSpec,
  { enabled, minSeverity, target, secretEnv }: z.output<typeof FileChannel>,
  report: Report,
): ChannelLayer => {
  const place = `channels, ${spec.id}`
  const open = variablesOf(spec, target, `${place}: target`, report).filter(({ field, name, text }) => {
    const setting = spec.settings[name]
    if (setting?.audience === 'secret')
      report(`${place}: target.${field}`, 'is a secret; name its variable in secretEnv')
    else if (!isMeant(spec, name, String(text))) report(`${place}: target.${field}`, 'cannot be meant')
    else return true
    return false
  })
  const secret = variablesOf(spec, secretEnv, `${place}: secretEnv`, report)
  return {
    enabled,
    minSeverity: minSeverity ?? undefined,
    variables: Object.fromEntries(open.map(({ name, text }) => [name, String(text)])),
    fromVariables: Object.fromEntries(secret.map(({ name, text }) => [name, text])),
  }
}

/** The variables that fields stand for; fields that the channel does not have are skipped. */
const variablesOf = <T>(
  { id, settings }: ChannelSpec,
  fields: Readonly<Record<string, T>>,
  place: string,
  report: Report,
) =>
  Object.entries(fields).flatMap(([field, text]) => {
    const name = `HEALTH_ALERT_${inCapitals(id)}_${inCapitals(field)}`
    if (Object.hasOwn(settings, name)) return [{ field, name, text }]
    report(place, `has a field that the channel ${id} does not have; there are ${fieldsOf(id, settings).join(', ')}`)
    return []
  })

const inCapitals = (name: string): string =>
  name
    .replaceAll('-', '_')
    .replaceAll(/[A-Z]/g, (letter) => `_${letter}`)
    .toUpperCase()

const fieldsOf = (channel: string, settings: Settings): string[] =>
  Object.keys(settings)
    .map((name) => name.slice(`HEALTH_ALERT_${inCapitals(channel)}_`.length).toLowerCase())
    // These have fields of their own.
    .filter((field) => field !== 'enabled' && field !== 'min_severity')
    .map((field) => field.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase()))

const isMeant = ({ settings }: ChannelSpec, name: string, text: string): boolean => {
  try {
    settings[name]?.parse(text)
    return true
  } catch {
    return false
  }
}
