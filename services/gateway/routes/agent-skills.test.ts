import { hash } from 'node:crypto'
import { expect, it } from 'vitest'
import { SkillResponse, SkillIndex, SkillsResponse } from '#proto/http/skills.ts'
import { startFakeProduct } from '../testing/fake-product.ts'

it('lists and returns skills to callers with read access', async () => {
  await using product = await startFakeProduct({ agent: {} })
  const list = await fetch(`${product.url}/api/v1/agent/skills`)
  expect(SkillsResponse.parse(await list.json())).toMatchObject({
    data: [{ name: 'count-parts', description: 'Counts parts.' }],
    metadata: { count: 1 },
  })
  const one = await fetch(`${product.url}/api/v1/agent/skills/count-parts`)
  expect(SkillResponse.parse(await one.json()).data.text).toContain('# Parts ≥ 1')
  const again = await fetch(list.url, { headers: { 'if-none-match': list.headers.get('etag') ?? '' } })
  expect(again.status).toBe(304)
  await using closed = await startFakeProduct({ agent: {}, env: { SVC_API_KEY_SECRET: 's' } })
  expect((await fetch(`${closed.url}/api/v1/agent/skills`)).status).toBe(401)
  expect((await fetch(`${closed.url}/.well-known/agent-skills/index.json`)).status).toBe(200)
})

it('serves files that match the digests in the agentskills.io index', async () => {
  await using product = await startFakeProduct({ agent: {} })
  const answer = await fetch(`${product.url}/.well-known/agent-skills/index.json`)
  const { skills } = SkillIndex.parse(await answer.json())
  expect(skills).toHaveLength(1)
  for (const { url, digest } of skills) {
    const file = await fetch(new URL(url, answer.url))
    expect(file.headers.get('content-type')).toBe('text/markdown; charset=utf-8')
    const bytes = new Uint8Array(await file.arrayBuffer())
    expect(`sha256:${hash('sha256', bytes)}`).toBe(digest)
  }
})

it.each(['/api/v1/agent/skills/no', '/.well-known/agent-skills/no/SKILL.md'])('returns 404 for %s', async (path) => {
  await using product = await startFakeProduct({ agent: {} })
  const answer = await fetch(product.url + path)
  expect(answer.status).toBe(404)
  expect(await answer.json()).toMatchObject({ error: { type: 'not-found', message: 'unknown skill "no"' } })
})
