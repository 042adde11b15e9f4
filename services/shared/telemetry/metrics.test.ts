import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { metrics, openMetrics } from './metrics.ts'

it('names every metric of the process, Node’s own included, with the product’s prefix', async () => {
  const registry = openMetrics({ version: '1.2.3', services: ['query', 'gateway'] })
  for (const metric of Object.values(metrics)) metric(registry)
  const names = registry.getMetricsAsArray().map((metric) => metric.name)
  expect(names.length).toBeGreaterThan(Object.keys(metrics).length)
  expect(names.filter((name) => !/^watchhouse_[a-z\d_]+$/.test(name))).toEqual([])
  expect(await registry.metrics()).toContain(
    `watchhouse_build_info{version="1.2.3",node="${process.version}",services="query,gateway"} 1`,
  )
})

it('follows the naming rules of Prometheus, as promtool checks them', async () => {
  const registry = openMetrics({ version: '1.2.3', services: ['query'] })
  for (const metric of Object.values(metrics)) metric(registry)
  for (const { name, type, help } of await registry.getMetricsAsJSON()) {
    const isCounter = String(type) === 'counter'
    expect([name, name.endsWith('_total')], name).toEqual([name, isCounter])
    expect(help, name).toMatch(/\S/)
    expect(name).not.toMatch(/_(?:milliseconds|ms|minutes|hours|kilobytes|percent|gauge|counter|histogram)(?:_|$)/)
  }
})

it('gives the services of one process the same metric', () => {
  const registry = new Registry()
  expect(metrics.busInFlight(registry)).toBe(metrics.busInFlight(registry))
})
