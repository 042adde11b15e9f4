import { z } from 'zod'
import type { ChannelLayer } from '../layers/layer.ts'
import { type ChannelSpec, fieldsOf } from '../saved/fields.ts'
import { type Document, listOf } from './entries.ts'
import type { Report } from './report.ts'
import { FileChannel } from './shapes.ts'

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
const variablesOf = <T>(channel: ChannelSpec, given: Readonly<Record<string, T>>, place: string, report: Report) => {
  const fields = fieldsOf(channel)
  return Object.entries(given).flatMap(([field, text]) => {
    const known = fields.find((each) => each.field === field)
    if (known) return [{ field, name: known.variable, text }]
    const names = fields.map((each) => each.field).join(', ')
    report(place, `has a field that the channel ${channel.id} does not have; there are ${names}`)
    return []
  })
}

const isMeant = ({ settings }: ChannelSpec, name: string, text: string): boolean => {
  try {
    settings[name]?.parse(text)
    return true
  } catch {
    return false
  }
}
