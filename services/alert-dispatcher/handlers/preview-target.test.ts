import { describe, expect, it } from 'vitest'
import { call } from '../delivery/testing/place.ts'
import { previewTarget } from './preview-target.ts'

const { previewTarget: preview } = previewTarget({
  env: { HEALTH_ALERT_METADATA: 'team=storage', HEALTH_ALERT_DASHBOARD_URL: 'https://watch.example' },
  clock: { now: () => 1_790_000_000_000 },
})

describe('a preview', () => {
  it('is what would be sent, with the templates filled', async () => {
    const templates = { title: '<{{severity}}> {{host}} {{meta.team}}' }
    expect(await preview({ format: 'slack', templates, severity: 'critical' }, call)).toMatchObject({
      method: 'POST',
      body: { text: expect.stringContaining('<critical> an example host storage <https://watch.example') },
    })
  })

  it('has the format of its address where that is left open', async () => {
    const url = 'https://discord.com/api/webhooks/1/x'
    expect(await preview({ format: 'auto', url, severity: 'warning' }, call)).toMatchObject({ body: { embeds: [{}] } })
  })

  it.each([
    [{ url: 'secret nonsense' }, 'url must be an absolute URL'],
    [{ templates: { body: '{{ secret }}' } }, 'templates.body names what there is not; there are event, severity'],
  ])('of %j is refused without repeating it', async (more, says) => {
    const refused = preview({ format: 'raw', severity: 'warning', ...more }, call)
    await expect(refused).rejects.toMatchObject({ code: 'invalid', message: expect.stringContaining(says) })
    await expect(refused).rejects.not.toThrow(/secret/)
  })
})
