import { expect } from 'vitest'
import { fetchJson } from './fetch-json.ts'
import type { Product } from './product.ts'

const servedWithinMs = 5_000

/** Expects that the product serves a path although a server is unavailable, without waiting for that server. */
export const expectServed = async ({ url }: Pick<Product, 'url'>, path: string): Promise<void> => {
  const { status, tookMs, text } = await fetchJson(`${url}${path}`)
  expect([path, status, text.slice(0, 200)]).toEqual([path, 200, expect.any(String)])
  expect(tookMs).toBeLessThan(servedWithinMs)
}
