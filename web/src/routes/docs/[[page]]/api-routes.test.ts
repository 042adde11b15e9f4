import { expect, it } from 'vitest'
import { routesOf } from './api-routes.ts'

it('lists every method of every path, in the order of paths', () => {
  const paths = {
    '/b': { get: { summary: 'Reads b' }, delete: { summary: 'Removes b' }, parameters: [] },
    '/a': { post: {} },
  }
  expect(routesOf(paths)).toEqual([
    { method: 'POST', path: '/a', summary: '' },
    { method: 'GET', path: '/b', summary: 'Reads b' },
    { method: 'DELETE', path: '/b', summary: 'Removes b' },
  ])
})
