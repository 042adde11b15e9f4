import { expect, it } from 'vitest'
import { listApiRoutes } from './api-routes.ts'

it('lists all methods of all paths, sorted by path', () => {
  const paths = {
    '/b': { get: { summary: 'Reads b' }, delete: { summary: 'Removes b' }, parameters: [] },
    '/a': { post: {} },
  }
  expect(listApiRoutes(paths)).toEqual([
    { method: 'POST', path: '/a', summary: '' },
    { method: 'GET', path: '/b', summary: 'Reads b' },
    { method: 'DELETE', path: '/b', summary: 'Removes b' },
  ])
})
