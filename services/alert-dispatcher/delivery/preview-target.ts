import { z } from 'zod'
import type { alerts } from '#proto/alerts.ts'
import type { Preview } from '#proto/channels.ts'
import type { Handlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Severity } from '#proto/rules.ts'
import type { Transit } from '#shared/seal/transit.ts'
import type { Context } from '#shared/lifecycle/service.ts'
import { formatOf } from '../channels/formats/index.ts'
import { requireTemplates, writeTemplates } from '../channels/formats/template.ts'
import { messageFrame } from '../messages/message-settings.ts'
import { type Message, messageOf } from '../messages/message.ts'
import type { Notice } from '../notice.ts'

interface Previewing extends Pick<Context, 'env' | 'clock'> {
  transit: Pick<Transit, 'decrypt'>
}

const nowhere = 'https://example.com/'

/** Addresses of webhooks are secrets. */
const Secrets = z.object({ url: z.string() })

/** Shows what a webhook would be sent, made as it would be. */
export const previewTarget = (previewing: Previewing): Pick<Handlers<typeof alerts>, 'previewTarget'> => ({
  previewTarget: async ({ format, encrypted, url: bare = nowhere, templates, severity }) => {
    const { url } = encrypted === undefined ? { url: bare } : await previewing.transit.decrypt(encrypted, Secrets)
    const parameter = 'url'
    if (!URL.canParse(url)) throw new ServiceError('invalid', 'url must be an absolute URL', { details: { parameter } })
    requireTemplates(templates ?? {})
    const address = new URL(url)
    const message = inventedMessage(previewing, severity)
    const write = writeTemplates({ templates }, message)
    const { method = 'POST', body } = formatOf(format, address).compose({ message, address, write, key: 'preview' })
    // Bodies are made of texts, figures, lists and tables alone.
    return { method, body: body as Preview['body'] }
  },
})

const hourMs = 3_600_000

const inventedMessage = ({ env, clock }: Previewing, severity: Severity): Message => {
  const atMs = clock.now()
  const notice: Notice = {
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
    runbook: 'This alert is invented.',
    sinceMs: atMs - hourMs,
    atMs,
    reason: 'it has reached its threshold',
    gathered: [],
  }
  const frame = { ...messageFrame(env), origin: 'watchhouse-0000000000000000' }
  return messageOf(notice, frame, new Map([['example', { id: 0, name: 'an example host' }]]))
}
