import { expect, it, vi } from 'vitest'
import { fetchJson } from '../testing/fetch-json.ts'
import { startHangingHost } from '../testing/bad-hosts.ts'
import { parseExposition, findSampleValue } from '../testing/exposition-format.ts'
import { lintExposition } from '../testing/exposition-lint.ts'
import { startPausableHost } from '../testing/pausable-host.ts'
import { startProduct } from '../testing/product.ts'
import { describeWith } from '../testing/describe-with.ts'
import { startStubFleet } from '../testing/stub-fleet.ts'
import { describeOnTopologies } from '../testing/topologies.ts'

const path = '/api/v1/metrics'

describeOnTopologies('the Prometheus endpoint', (topology) => {
  it('exports the metrics of every host in the exact format', async () => {
    await using product = await startProduct({ topology })
    const { status, headers, text } = await fetchJson(`${product.url}${path}`)
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    const families = parseExposition(text)
    expect(lintExposition(families)).toEqual([])
    for (const host of ['0', '1']) {
      expect(findSampleValue(families, 'watchhouse_host_up', { host })).toBe(1)
      expect(findSampleValue(families, 'clickhouse_query', { host })).toBeGreaterThanOrEqual(1)
      expect(findSampleValue(families, 'clickhouse_uptime', { host })).toBeGreaterThanOrEqual(0)
    }
    expect(families.get('clickhouse_query')).toMatchObject({ type: 'gauge', help: expect.stringContaining('queries') })
    expect(findSampleValue(families, 'watchhouse_host_info', { host: '1', name: 'two' })).toBe(1)
  })

  it('omits only the metrics of a host that hangs', async () => {
    await using fleet = await startStubFleet(2, 10)
    await using hanging = await startHangingHost()
    const hosts = [...fleet.hosts, { url: hanging.url, name: 'hanging' }]
    await using product = await startProduct({ topology, hosts })
    const first = await fetchJson(`${product.url}${path}`)
    const families = parseExposition(first.text)
    const up = ['0', '1', '2'].map((host) => findSampleValue(families, 'watchhouse_host_up', { host }))
    expect(up).toEqual([1, 1, 0])
    expect(findSampleValue(families, 'watchhouse_host_failure', { host: '2', reason: 'timeout' })).toBe(1)
    expect(families.get('clickhouse_stubfigure9')?.samples.size).toBe(2)
  })

  it('returns while the statement on a host that has never responded still runs', async () => {
    await using fleet = await startStubFleet(2, 10)
    const [answering, { url = '' } = {}] = fleet.hosts
    await using silent = await startPausableHost(url)
    silent.hold()
    const hosts = [answering, { url: silent.url, name: 'silent' }].filter((host) => host !== undefined)
    await using product = await startProduct({ topology, hosts })
    const scrape = async () => parseExposition((await fetchJson(`${product.url}${path}`)).text)
    const isUp = (families: Awaited<ReturnType<typeof scrape>>) =>
      ['0', '1'].map((host) => findSampleValue(families, 'watchhouse_host_up', { host }))
    const first = await scrape()
    expect(isUp(first)).toEqual([1, 0])
    expect(findSampleValue(first, 'watchhouse_host_failure', { host: '1', reason: 'timeout' })).toBe(1)
    expect(first.get('clickhouse_stubfigure9')?.samples.size).toBe(1)
    silent.release()
    // The timeout is below half a minute, the time after which an aborted statement would be sent again.
    await expect.poll(async () => isUp(await scrape()), { timeout: 20_000 }).toEqual([1, 1])
    expect(fleet.batches()).toEqual([1, 1])
  })
})

vi.setConfig({ testTimeout: 180_000 })

describeWith(['nats', 'redis', 'postgres'], 'fifty concurrent scrapes of a hundred hosts', () => {
  it('query each host once, for any selection and from any process', { tags: ['long'] }, async () => {
    await using fleet = await startStubFleet(100, 800)
    await using product = await startProduct({ topology: 'nats', queryProcesses: 2, hosts: fleet.hosts })
    const selections = ['', '?match[]=clickhouse_stubfigure1', '?match[]={host="7"}', '?match[]={__name__=~".*9"}']
    const scrapes = Array.from({ length: 50 }, (_, index) => selections[index % selections.length] ?? '')
    const answers = await Promise.all(scrapes.map((selection) => fetchJson(`${product.url}${path}${selection}`)))
    expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200))
    expect(fleet.batches()).toEqual(Array(100).fill(1))

    const [all = new Map(), one = new Map()] = answers.map(({ text }) => parseExposition(text))
    // On a busy machine, some hosts miss the deadline. The same response reports them as down.
    const up = [...(all.get('watchhouse_host_up')?.samples.values() ?? [])]
    expect(up).toHaveLength(100)
    const hostsUp = up.filter(({ value }) => value === 1).length
    expect(hostsUp).toBeGreaterThan(0)
    expect(all.get('clickhouse_stubfigure799')?.samples.size).toBe(hostsUp)
    expect([...one.keys()]).toEqual(['clickhouse_stubfigure1'])
  })
})
