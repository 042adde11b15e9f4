import { describe, expect, it } from 'vitest'
import { findDependencies, type DependencyNode, type TableSql } from './dependencies.ts'

const node = (table: string, engine: string, more: Partial<DependencyNode> = {}): DependencyNode => ({
  database: 'shop',
  table,
  engine,
  uuid: '00000000-0000-0000-0000-000000000000',
  dependents: [],
  needs: [],
  ...more,
})
const text = (table: string, more: Partial<TableSql>): TableSql => ({
  database: 'shop',
  table,
  engineFull: '',
  asSelect: '',
  create: '',
  ...more,
})
const edges = (nodes: readonly DependencyNode[], texts: readonly TableSql[]): string[] =>
  findDependencies(nodes, texts).map(({ kind, from, to, cluster }) => {
    const names = [from, to].map((end) => `${end.database}.${end.table}${end.engine === null ? '?' : ''}`)
    return `${kind} ${names.join(' > ')}${cluster === null ? '' : ` on ${cluster}`}`
  })

const orders = node('orders', 'MergeTree')

describe('dependencies', () => {
  it('of a distributed table name the cluster, even without a local table', () => {
    const engineFull = "Distributed('main', 'shop', 'orders', rand())"
    expect(edges([orders, node('all', 'Distributed')], [text('all', { engineFull })])).toEqual([
      'distributed shop.orders > shop.all on main',
    ])
    expect(edges([node('all', 'Distributed')], [text('all', { engineFull })])).toEqual([
      'distributed shop.orders? > shop.all on main',
    ])
  })

  it('of a view include dropped tables, but not possible columns', () => {
    const view = node('seen', 'View')
    const asSelect = 'SELECT * FROM shop.gone WHERE id IN shop.ids'
    expect(edges([view], [text('seen', { asSelect })])).toEqual(['view shop.gone? > shop.seen'])
  })

  it('include the inner table of a materialized view in every database engine', () => {
    const view = node('totals', 'MaterializedView', { uuid: 'u-1' })
    const texts = [text('totals', { create: 'CREATE MATERIALIZED VIEW shop.totals ENGINE = Memory AS SELECT 1' })]
    for (const inner of ['.inner_id.u-1', '.inner.totals']) {
      expect(edges([view, node(inner, 'Memory')], texts)).toEqual([
        `materialized-view-target shop.totals > shop.${inner}`,
      ])
    }
  })

  it('are listed once when the server and the definition both contain them', () => {
    const source = node('orders', 'MergeTree', { dependents: [['shop', 'totals']] })
    const texts = [text('totals', { asSelect: 'SELECT * FROM shop.orders' })]
    expect(edges([source, node('totals', 'MaterializedView')], texts)).toEqual([
      'materialized-view shop.orders > shop.totals',
    ])
  })

  it('of a Merge table match its patterns, except the table itself', () => {
    const nodes = [orders, node('orders_old', 'Log'), node('orders_all', 'Merge'), { ...orders, database: 'other' }]
    const merge = (engineFull: string) => edges(nodes, [text('orders_all', { engineFull })])
    expect(merge("Merge('shop', '^orders')")).toEqual([
      'merge shop.orders > shop.orders_all',
      'merge shop.orders_old > shop.orders_all',
    ])
    expect(merge("Merge(REGEXP('^o'), 'orders$')")).toEqual(['merge other.orders > shop.orders_all'])
    expect(merge("Merge('shop', '(')")).toEqual([])
  })
})
