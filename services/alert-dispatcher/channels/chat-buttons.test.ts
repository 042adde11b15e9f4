import { describe, expect, it } from 'vitest'
import { buildChatButtons } from './webhook.ts'
import { createMessage } from './testing/send-once.ts'

const slack = 'https://hooks.slack.com/services/T/B/x'
const buttonsOf = (kind: 'fire' | 'escalate' | 'remind' | 'recover' | 'digest' | 'test', address = slack) =>
  buildChatButtons({ ...createMessage({ kind }), isInteractive: true }, new URL(address)).length

describe('buttons', () => {
  it.each([
    ['fire', 1],
    ['escalate', 1],
    ['remind', 1],
    ['recover', 0],
    ['digest', 0],
    ['test', 0],
  ] as const)('stand under a %s: %s', (kind, count) => {
    expect(buttonsOf(kind)).toBe(count)
  })

  it.each([
    'https://discord.com/api/webhooks/1/x/slack',
    'https://chat.example/hooks/x',
    `https://x.example/?${slack}`,
  ])('are not sent to %s', (address) => {
    expect(buttonsOf('fire', address)).toBe(0)
  })

  it('are not sent if clicks are not handled', () => {
    expect(buildChatButtons(createMessage(), new URL(slack))).toEqual([])
  })
})
