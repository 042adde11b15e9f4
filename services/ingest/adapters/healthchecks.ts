import { z } from 'zod'
import type { EventAdapter } from './adapter.ts'
import { createDraft } from './draft.ts'
import { firstNonBlank, timestampField, optionalTextField, parseFields } from './fields.ts'

const Webhook = z.looseObject({
  code: z.uuid(),
  name: optionalTextField,
  status: z.enum(['up', 'down']),
  now: timestampField,
  tags: optionalTextField,
  body: optionalTextField,
})

/**
 * The webhook of Healthchecks.io. Users define its body as a template:
 * `{"code":"$CODE","name":"$NAME","status":"$STATUS","now":"$NOW","tags":"$TAGS"}`.
 */
export const healthchecks: EventAdapter = {
  id: 'healthchecks',
  recognizes: ({ code, status }) =>
    z.uuid().safeParse(code).success && typeof status === 'string' && /^(up|down)$/.test(status),
  read: (sent) => {
    const { code, name, status, now, tags, body } = parseFields(Webhook, sent)
    return [
      createDraft('healthchecks', sent, {
        externalId: code,
        dedupKey: code,
        status: status === 'down' ? 'firing' : 'resolved',
        severity: 'critical',
        resource: firstNonBlank(name, code),
        title: firstNonBlank(name, code),
        body: firstNonBlank(body),
        labels: { tags },
        occurredAt: now,
      }),
    ]
  },
}
