import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { retryUntil } from '../../testing/fetch-json.ts'
import { type ClockJumpProduct, startClockJumpProduct } from './clock-jump-product.ts'

vi.setConfig({ testTimeout: 300_000 })

const secondMs = 1_000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs

const critical = 'CRITICAL: Host unreachable on first'
const still = 'STILL CRITICAL: Host unreachable on first'
const recovered = 'RECOVERED: Host unreachable on first'

/** A product, and the notifications that the test has expected so far. */
interface Story {
  product: ClockJumpProduct
  expected: string[]
}

const waitForAlerts = async ({ product, expected }: Story): Promise<void> => {
  await retryUntil(
    async () => product.messages(),
    (messages) => messages.length >= expected.length,
  )
  expect(product.messages()).toEqual(expected)
}

const seen = ({ product }: Story, status: string) =>
  retryUntil(
    () => product.status(),
    (now) => now === status,
  )

/** Advances the clocks by five minutes and waits until the sweep that is then due has finished. */
const passSweep = async ({ product }: Story): Promise<void> => {
  const before = await product.sweeps()
  product.pass(5 * minuteMs)
  await retryUntil(
    () => product.sweeps(),
    (now) => now > before,
  )
}

const acts = {
  async down(story: Story) {
    if (!story.product.host.isUp) return
    story.product.host.isUp = false
    story.product.pass(10 * secondMs)
    await seen(story, 'down')
    for (let sweeps = 0; sweeps < 3; sweeps++) await passSweep(story)
    story.expected.push(critical)
  },
  async up(story: Story) {
    if (story.product.host.isUp) return
    story.product.host.isUp = true
    story.product.pass(10 * secondMs)
    await seen(story, 'up')
    for (let sweeps = 0; sweeps < 2; sweeps++) await passSweep(story)
    story.expected.push(recovered)
  },
  async cooldown(story: Story) {
    // Less than the cooldown has passed, so no notification is repeated, regardless of the wall clock.
    story.product.pass(20 * minuteMs)
    await waitForAlerts(story)
    story.product.pass(41 * minuteMs)
    if (!story.product.host.isUp) story.expected.push(still)
  },
  async scrape(story: Story) {
    if (!story.product.host.isUp) return
    const before = (await story.product.hostMetricReads()) ?? 0
    story.product.pass(31 * secondMs)
    await retryUntil(
      () => story.product.hostMetricReads(),
      (now) => (now ?? 0) > before,
    )
  },
} as const

const jumpMs = fc.constantFrom(0, hourMs, -hourMs, -10 * minuteMs, 10 * minuteMs)
const steps = fc.array(
  fc.record({ act: fc.constantFrom('down', 'up', 'cooldown', 'scrape' as const), jumpMs, again: jumpMs }),
  { minLength: 4, maxLength: 7 },
)

const play = async (
  product: ClockJumpProduct,
  story: readonly { act: keyof typeof acts; jumpMs: number; again: number }[],
) => {
  const watched: Story = { product, expected: [] }
  await seen(watched, 'up')
  for (const step of story) {
    product.jump(step.jumpMs)
    await waitForAlerts(watched)
    await acts[step.act](watched)
    product.jump(step.again)
    await waitForAlerts(watched)
  }
}

describe('the product on a machine whose wall clock is set back and forth', { tags: ['long'] }, () => {
  it('detects host outages, updates figures, sweeps, alerts and sends reminders as usual', async () => {
    const whole = ['scrape', 'down', 'cooldown', 'up', 'scrape'] as const
    const runs = process.env.FAULTS_RUNS === undefined ? 1 : Number(process.env.FAULTS_RUNS)
    for (const back of [-hourMs, hourMs]) {
      await using product = await startClockJumpProduct()
      await play(
        product,
        whole.map((act) => ({ act, jumpMs: back, again: -back / 2 })),
      )
    }
    await fc.assert(
      fc.asyncProperty(steps, async (story) => {
        await using product = await startClockJumpProduct()
        await play(product, story)
      }),
      { numRuns: runs, endOnFailure: true },
    )
  })

  it('would not, if durations were measured with the wall clock', async () => {
    await using product = await startClockJumpProduct((_elapsedMs, wallMs) => wallMs)
    await seen({ product, expected: [] }, 'up')
    product.jump(-hourMs)
    product.host.isUp = false
    product.pass(10 * secondMs)
    await expect(seen({ product, expected: [] }, 'down')).rejects.toThrow('not met within')
  })
})
