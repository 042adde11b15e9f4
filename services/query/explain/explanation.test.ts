import { describe, expect, it } from 'vitest'
import type { ExplainNode } from '#proto/explain.ts'
import { parseAst, parsePipeline, parsePlanText, parseQueryTree, parsePlanJson } from './explanation.ts'

/** Returns a tree as nested arrays, in which each node is its name, description and children. */
const brief = (nodes: readonly ExplainNode[] | undefined): unknown =>
  nodes?.map(({ name, description, children }) => [
    description === null ? name : `${name} | ${description}`,
    ...(children.length > 0 ? [brief(children)] : []),
  ])

const text = (...lines: string[]): string => lines.join('\n')

describe('a plan as text', () => {
  it('is parsed in the format of older servers, with details separate from steps', () => {
    const tree = parsePlanText(
      text(
        'Expression ((Projection + Before ORDER BY))',
        'Header: country String',
        '        revenue Decimal(38, 2)',
        '  Join (JOIN FillRightFirst)',
        '    Filter (WHERE)',
        '    Filter column: equals(id, 3) (removed)',
        '      ReadFromMergeTree (shop.orders)',
        '      Prewhere info',
        '        Prewhere filter',
        '      Indexes:',
        '        PrimaryKey',
        '          Keys: ',
        '            id',
        '          Condition: (id in [3, 3])',
        '          Parts: 1/5',
        '    ReadFromMergeTree (shop.customers)',
      ),
    )
    expect(brief(tree)).toEqual([
      [
        'Expression | (Projection + Before ORDER BY)',
        [
          [
            'Join | JOIN FillRightFirst',
            [['Filter | WHERE', [['ReadFromMergeTree | shop.orders']]], ['ReadFromMergeTree | shop.customers']],
          ],
        ],
      ],
    ])
    const filter = tree?.[0]?.children[0]?.children[0]
    expect(filter?.details).toEqual({ lines: ['Filter column: equals(id, 3) (removed)'] })
    expect(filter?.children[0]?.details.lines).toEqual([
      'Prewhere info',
      'Prewhere filter',
      'Indexes:',
      'PrimaryKey',
      'Keys:',
      'id',
      'Condition: (id in [3, 3])',
      'Parts: 1/5',
    ])
  })

  it('is parsed in the format of newer servers', () => {
    const tree = parsePlanText(
      text(
        'Output: country, sum(amount)',
        '',
        'Aggregating',
        '│  Keys: country',
        '└──Join (JOIN FillRightFirst)',
        '   │  Type: inner | Strictness: all',
        '   ├──ReadFromMergeTree (shop.orders)',
        '   │     Indexes:',
        '   │       PrimaryKey',
        '   └──BuildRuntimeFilter (Build runtime join filter on id)',
        '      └──ReadFromMergeTree (shop.customers)',
      ),
    )
    expect(brief(tree)).toEqual([
      [
        'Aggregating',
        [
          [
            'Join | JOIN FillRightFirst',
            [
              ['ReadFromMergeTree | shop.orders'],
              ['BuildRuntimeFilter | Build runtime join filter on id', [['ReadFromMergeTree | shop.customers']]],
            ],
          ],
        ],
      ],
    ])
    expect(tree?.[0]?.details).toEqual({ lines: ['Keys: country'] })
    expect(tree?.[0]?.children[0]?.children[0]?.details).toEqual({ lines: ['Indexes:', 'PrimaryKey'] })
  })
})

describe('a plan as JSON', () => {
  it('keeps other keys of a step as details', () => {
    const step = { 'Node Type': 'Limit', 'Node Id': 'Limit_1', Limit: 3, Plans: [{ 'Node Type': 'ReadFromStorage' }] }
    expect(parsePlanJson(JSON.stringify([{ Plan: step }]))).toEqual([
      {
        name: 'Limit',
        description: null,
        details: { 'Node Id': 'Limit_1', Limit: 3 },
        children: [{ name: 'ReadFromStorage', description: null, details: {}, children: [] }],
      },
    ])
  })

  it.each(['', '[', '{}', '[{"Plan":{}}]', '[1]'])('is undefined for %j', (given) => {
    expect(parsePlanJson(given)).toBeUndefined()
  })
})

describe('other explanations', () => {
  it('parses nested pipeline steps with their processors', () => {
    const tree = parsePipeline(
      text(
        '(Expression)',
        'ExpressionTransform × 2',
        '  (Aggregating)',
        '  Resize 2 → 2',
        '    AggregatingTransform × 2',
        '      (ReadFromMergeTree)',
        '      MergeTreeSelect(pool: ReadPool, algorithm: Thread) × 2 0 → 1',
      ),
    )
    expect(brief(tree)).toEqual([['Expression', [['Aggregating', [['ReadFromMergeTree']]]]]])
    expect(tree?.[0]?.children[0]?.details).toEqual({ processors: ['Resize 2 → 2', 'AggregatingTransform × 2'] })
  })

  it('parses a syntax tree without its child counts', () => {
    const tree = parseAst(
      text(
        'SelectWithUnionQuery (children 1)',
        ' ExpressionList (children 2)',
        '  Identifier a',
        '  Function sum (alias b) (children 1)',
        '   ExpressionList',
      ),
    )
    expect(brief(tree)).toEqual([
      [
        'SelectWithUnionQuery',
        [['ExpressionList', [['Identifier | a'], ['Function | sum (alias b)', [['ExpressionList']]]]]],
      ],
    ])
  })

  it('reads a query tree', () => {
    const tree = parseQueryTree(
      text('QUERY id: 0', '  PROJECTION COLUMNS', '    n UInt64', '  JOIN TREE', '    CROSS JOIN id: 8'),
    )
    expect(brief(tree)).toEqual([
      [
        'QUERY | id: 0',
        [
          ['PROJECTION COLUMNS', [['n UInt64']]],
          ['JOIN TREE', [['CROSS JOIN | id: 8']]],
        ],
      ],
    ])
  })

  it('rejects a tree that is nested too deeply, and parses a long flat one', () => {
    const staircase = Array.from({ length: 501 }, (_, depth) => `${' '.repeat(depth)}Function`).join('\n')
    expect(parseAst(staircase)).toBeUndefined()
    expect(parseAst('Literal\n'.repeat(20_000))).toHaveLength(20_000)
  })
})
