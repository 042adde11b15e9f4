import type { RouteBody } from '#proto/http/route.ts'
import type { Resource } from './resources.ts'

const database = 'database'

/** A notification channel. All channels exist; deleting one only deletes its saved settings. */
export const channel: Resource = {
  load: async (client) =>
    (await client.call('GET /api/v1/health/alert-config')).data.channels.map(
      ({ channel: id, enabled, minSeverity, settings, source }) => ({
        kind: 'channel',
        key: id,
        id,
        fields: { enabled, minSeverity, ...Object.fromEntries(settings.map(({ field, value }) => [field, value])) },
        isSaved: source === database,
      }),
    ),
  save: (client, { key, fields, secrets }, current) => {
    const { enabled, minSeverity, ...settings } = fields
    const kept = current?.isSaved ? current.fields : {}
    // The request replaces these two, and keeps the settings that it does not contain. Null means no minimum.
    const general = { enabled: enabled ?? kept.enabled, minSeverity: minSeverity ?? kept.minSeverity ?? undefined }
    // The schema of the file, which is that of the API, validated the fields.
    const body = {
      ...general,
      settings: { ...settings, ...secrets },
    } as RouteBody<'PUT /api/v1/health/alert-config/channels/{channel}'>
    return client.call('PUT /api/v1/health/alert-config/channels/{channel}', { path: { channel: key }, body })
  },
  remove: (client, { id }) =>
    client.call('DELETE /api/v1/health/alert-config/channels/{channel}', { path: { channel: id } }),
}

/** An additional webhook target. Its name identifies it in files, because the server chooses ids. */
export const webhookTarget: Resource = {
  load: async (client) =>
    (await client.call('GET /api/v1/health/webhook-targets')).data.map(({ id, name, source, ...fields }) => ({
      kind: 'webhook-target',
      key: name,
      id,
      fields,
      isSaved: source === database,
    })),
  save: (client, { key, fields, secrets }, current) => {
    // The server shows no secrets, so those of the current entry are masked. An absent secret keeps its value.
    const { url: _url, headers: _headers, ...kept } = current?.isSaved ? current.fields : {}
    const { url: _masked, headers: _names, ...desired } = fields
    // The schema of the file, which is that of the API, validated the fields.
    const body = { ...kept, ...desired, ...secrets, name: key } as RouteBody<'POST /api/v1/health/webhook-targets'>
    return current?.isSaved
      ? client.call('PUT /api/v1/health/webhook-targets/{id}', { path: { id: current.id }, body })
      : client.call('POST /api/v1/health/webhook-targets', { body })
  },
  remove: (client, { id }) => client.call('DELETE /api/v1/health/webhook-targets/{id}', { path: { id } }),
}
