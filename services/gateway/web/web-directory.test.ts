import { rm } from 'node:fs/promises'
import { pino } from 'pino'
import { afterAll, expect, it } from 'vitest'
import { createWebBuild } from '../testing/fake-product.ts'
import { openWebBuild, resolveWebDirectory } from './web-build.ts'

const folder = await createWebBuild({ CLIENT_EDITION: 'own' })
afterAll(() => rm(folder, { recursive: true }))

it.each([
  [{}, /\/web\/build$/],
  [{ SVC_WEB_DIRECTORY: 'other/build' }, /^\/.*\/other\/build$/],
  [{ SVC_WEB_DIRECTORY: '/opt/web' }, /^\/opt\/web$/],
])('with %j serves the web from %s', (env, directory) => {
  expect(resolveWebDirectory(env)).toMatch(directory)
})

it('reads the build variables of that folder, and returns none without a build', () => {
  const log = pino({ level: 'silent' })
  const open = (SVC_WEB_DIRECTORY: string) => openWebBuild(resolveWebDirectory({ SVC_WEB_DIRECTORY }), log)
  expect(open(folder)).toMatchObject({ directory: folder, facts: { client: { CLIENT_EDITION: 'own' } } })
  expect(open('/nowhere')).toEqual({ directory: undefined, indexHtml: undefined, facts: undefined, docs: [] })
})
