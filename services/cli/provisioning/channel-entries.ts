import { channels } from '../../alert-dispatcher/channels/index.ts'
import { parseWebhookHeaders } from '../../alert-dispatcher/channels/webhook-target-list.ts'
import type { ChannelLayer, PolicyLayer } from '../../alert-dispatcher/policy/layers/layer.ts'
import { listFields, maskSecret } from '../../alert-dispatcher/policy/saved-channels/channel-fields.ts'
import type { DesiredEntry, Fields } from './plan.ts'

type Variables = Readonly<Record<string, string | undefined>>

/** Where the secrets come from, and where problems go. */
interface Sources {
  env: Variables
  report(problem: string): void
}

/**
 * Returns the channels and webhook targets of `channels.yaml`. Their secrets come from the variables that the file names.
 * `fields` contains secrets as the server shows them: masked.
 */
export const toChannelEntries = (
  { channels: layers, webhookTargets }: PolicyLayer,
  { env, report }: Sources,
): DesiredEntry[] => {
  const readVariable = (place: string, name: string): string => {
    const text = env[name]?.trim() ?? ''
    if (text === '') report(`channels.yaml: ${place}: variable "${name}" is not set; set it to the secret`)
    return text
  }
  return [
    ...Object.entries(layers).map(([id, layer]) =>
      toChannelEntry(id, layer, (field, name) => readVariable(`channel "${id}", field "${field}"`, name)),
    ),
    ...webhookTargets.map((target) =>
      toTargetEntry(target, {
        report,
        readVariable: (field, name) => readVariable(`webhook target "${target.name}", field "${field}"`, name),
      }),
    ),
  ]
}

type ReadVariable = (field: string, name: string) => string

const toChannelEntry = (id: string, layer: ChannelLayer, readVariable: ReadVariable): DesiredEntry => {
  const { enabled, minSeverity, variables = {}, fromVariables = {} } = layer
  const known = channels.find((channel) => channel.id === id)
  const names = new Map((known ? listFields(known) : []).map(({ variable, field }) => [variable, field]))
  const rename = (values: Readonly<Record<string, string>>) =>
    Object.entries(values).map(([variable, value]): [field: string, value: string] => [
      names.get(variable) ?? variable,
      value,
    ])
  const secrets = rename(fromVariables).map(([field, name]): [string, string] => [field, readVariable(field, name)])
  return {
    kind: 'channel',
    key: id,
    fields: {
      enabled,
      minSeverity,
      ...Object.fromEntries(rename(variables)),
      ...Object.fromEntries(secrets.map(([field, secret]) => [field, maskSecret(secret)])),
    },
    secrets: Object.fromEntries(secrets),
  }
}

interface TargetSources {
  report: Sources['report']
  readVariable: ReadVariable
}

const toTargetEntry = (
  { name, urlEnv = '', headersEnv, enabled, format, minSeverity, templates }: PolicyLayer['webhookTargets'][number],
  { report, readVariable }: TargetSources,
): DesiredEntry => {
  const url = readVariable('urlEnv', urlEnv)
  const text = headersEnv === undefined ? undefined : readVariable('headersEnv', headersEnv)
  const headers = text ? parseWebhookHeaders(text) : undefined
  if (text && !headers)
    report(
      `channels.yaml: webhook target "${name}": invalid value of variable "${headersEnv}"; allowed: a JSON object with Authorization and X-… headers`,
    )
  const fields: Fields = { enabled, format, minSeverity, templates, url: maskSecret(url) }
  return {
    kind: 'webhook-target',
    key: name,
    fields: { ...fields, headers: headers && Object.keys(headers) },
    secrets: { url, ...(headers && { headers }) },
  }
}
