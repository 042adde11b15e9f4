import { z } from 'zod'
import type { alerts } from '#proto/alerts.ts'
import type { WebhookPreview } from '#proto/channels.ts'
import type { ServiceHandlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Severity } from '#proto/rules.ts'
import type { TransitKeyPair } from '#shared/seal/transit.ts'
import type { ServiceContext } from '#shared/lifecycle/service.ts'
import { selectFormat } from '../channels/formats/index.ts'
import { requireKnownPlaceholders, renderTemplates } from '../channels/formats/template.ts'
import { readMessageSettings } from '../messages/message-settings.ts'
import { type Message, renderMessage } from '../messages/message.ts'
import type { Notification } from '../notification.ts'

interface PreviewDeps extends Pick<ServiceContext, 'env' | 'clock'> {
  transit: Pick<TransitKeyPair, 'decrypt'>
}

const exampleUrl = 'https://example.com/'

/** The URL of a webhook is a secret, so it is sent encrypted. */
const Secrets = z.object({ url: z.string() })

/** Returns the handler that shows the request a webhook would receive for an example alert. */
export const createPreviewTargetHandler = (
  deps: PreviewDeps,
): Pick<ServiceHandlers<typeof alerts>, 'previewTarget'> => ({
  previewTarget: async ({ format, encrypted, url: bare = exampleUrl, templates, severity }) => {
    const { url } = encrypted === undefined ? { url: bare } : await deps.transit.decrypt(encrypted, Secrets)
    const parameter = 'url'
    if (!URL.canParse(url)) throw new ServiceError('invalid', 'url must be an absolute URL', { details: { parameter } })
    requireKnownPlaceholders(templates ?? {})
    const address = new URL(url)
    const message = createExampleMessage(deps, severity)
    const write = renderTemplates({ templates }, message)
    const { method = 'POST', body } = selectFormat(format, address).compose({ message, address, write, key: 'preview' })
    // Request bodies contain only JSON values.
    return { method, body: body as WebhookPreview['body'] }
  },
})

const hourMs = 3_600_000

const createExampleMessage = ({ env, clock }: PreviewDeps, severity: Severity): Message => {
  const atMs = clock.now()
  const notification: Notification = {
    id: 'preview:0',
    kind: 'fire',
    episode: 'preview',
    sequence: 0,
    hostKey: 'example',
    source: null,
    ruleId: 'disk-usage',
    title: 'Disk almost full',
    severity,
    value: severity === 'critical' ? 96 : 91.5,
    threshold: severity === 'critical' ? 95 : 80,
    unit: 'percent',
    offenders: ['default'],
    runbook: 'This is an example alert.',
    sinceMs: atMs - hourMs,
    atMs,
    reason: 'threshold reached',
    gathered: [],
  }
  const frame = { ...readMessageSettings(env), origin: 'watchhouse-0000000000000000' }
  return renderMessage(notification, frame, new Map([['example', { id: 0, name: 'an example host' }]]))
}
