import { createClock } from '#shared/time/clock.ts'
import { afterAll, describe, expect, it } from 'vitest'
import { encryptForTransit, openTransitKeyPair } from '#shared/seal/transit.ts'
import { openStore } from '#shared/store/open.ts'
import { testServiceCall } from './testing/fixture.ts'
import { createPreviewTargetHandler } from './preview-target.ts'

const store = await openStore({ env: {}, busIsShared: false })
afterAll(() => store[Symbol.asyncDispose]())
const transit = openTransitKeyPair(store, 'key')
const { previewTarget: preview } = createPreviewTargetHandler({
  env: { HEALTH_ALERT_METADATA: 'team=storage', HEALTH_ALERT_DASHBOARD_URL: 'https://watch.example' },
  clock: createClock(() => 1_790_000_000_000),
  transit,
})
const sealed = async (url: string) => encryptForTransit(await transit.publicKey(), { url })

describe('a target preview', () => {
  it('returns the request with rendered templates', async () => {
    const templates = { title: '<{{severity}}> {{host}} {{meta.team}}' }
    expect(await preview({ format: 'slack', templates, severity: 'critical' }, testServiceCall)).toMatchObject({
      method: 'POST',
      body: { text: expect.stringContaining('<critical> an example host storage <https://watch.example') },
    })
  })

  it('uses the format that matches the address', async () => {
    const url = 'https://discord.com/api/webhooks/1/x'
    const encrypted = await sealed(url)
    for (const address of [{ encrypted }, { url }]) {
      const shown = await preview({ format: 'auto', ...address, severity: 'warning' }, testServiceCall)
      expect(shown).toMatchObject({ body: { embeds: [{}] } })
    }
  })

  it('rejects an invalid encrypted URL without quoting it', async () => {
    const refused = preview(
      { format: 'raw', encrypted: await sealed('secret nonsense'), severity: 'warning' },
      testServiceCall,
    )
    await expect(refused).rejects.toThrow('url must be an absolute URL')
    await expect(refused).rejects.not.toThrow(/secret/)
  })

  it.each([
    [{ url: 'secret nonsense' }, 'url must be an absolute URL'],
    [{ templates: { body: '{{ secret }}' } }, 'templates.body has an unknown placeholder; allowed: event, severity'],
  ])('rejects %j without quoting it', async (more, says) => {
    const refused = preview({ format: 'raw', severity: 'warning', ...more }, testServiceCall)
    await expect(refused).rejects.toMatchObject({ code: 'invalid', message: expect.stringContaining(says) })
    await expect(refused).rejects.not.toThrow(/secret/)
  })
})
