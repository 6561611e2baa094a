//! Shapes of trees. The expected ones are those of tree-sitter-python 0.20.

use proptest::prelude::*;

use super::*;

/// The tree as text: leaves as they are written, nodes in brackets.
fn shape(text: &str) -> String {
    fn of(tree: &Tree<'_>, id: NodeId) -> String {
        if tree.is_leaf(id) {
            return tree.text(id).to_owned();
        }
        let children = tree.children(id).iter().map(|child| of(tree, *child));
        format!("⟨{}⟩", children.collect::<Vec<_>>().join(" "))
    }
    let tree = parse(text);
    tree.children(tree.root()).iter().map(|child| of(&tree, *child)).collect::<Vec<_>>().join("\n")
}

#[test]
fn expressions_have_the_nodes_of_tree_sitter() {
    for (text, expected) in [
        ("f", "⟨f⟩"),
        ("f('a', k=1)", "⟨⟨f ⟨( ⟨' a '⟩ , ⟨k = 1⟩ )⟩⟩⟩"),
        ("a.b.c()[0]", "⟨⟨⟨⟨⟨a . b⟩ . c⟩ ⟨( )⟩⟩ [ 0 ]⟩⟩"),
        ("f(*a, **{'x': 6})", "⟨⟨f ⟨( ⟨* a⟩ , ⟨** ⟨{ ⟨⟨' x '⟩ : 6⟩ }⟩⟩ )⟩⟩⟩"),
        ("a < b not in c", "⟨⟨a < b not in c⟩⟩"),
        ("not a and b or c", "⟨⟨⟨⟨not a⟩ and b⟩ or c⟩⟩"),
        ("a + b * -c ** d", "⟨⟨a + ⟨b * ⟨- ⟨c ** d⟩⟩⟩⟩⟩"),
        ("'a' 'b'", "⟨⟨⟨' a '⟩ ⟨' b '⟩⟩⟩"),
        ("x[1:2, 'a']", "⟨⟨x [ ⟨1 : 2⟩ , ⟨' a '⟩ ]⟩⟩"),
        ("a if b else c", "⟨⟨a if b else c⟩⟩"),
        ("f(x for x in y)", "⟨⟨f ⟨( x ⟨for x in y⟩ )⟩⟩⟩"),
        ("A('x'), B('y')", "⟨⟨A ⟨( ⟨' x '⟩ )⟩⟩ , ⟨B ⟨( ⟨' y '⟩ )⟩⟩⟩"),
    ] {
        assert_eq!(shape(text), expected, "{text}");
    }
}

#[test]
fn simple_statements_have_the_nodes_of_tree_sitter() {
    for (text, expected) in [
        ("m = f()", "⟨⟨m = ⟨f ⟨( )⟩⟩⟩⟩"),
        ("a = b = c", "⟨⟨a = ⟨b = c⟩⟩⟩"),
        ("a, b = c", "⟨⟨⟨a , b⟩ = c⟩⟩"),
        ("x += 1", "⟨⟨x += 1⟩⟩"),
        ("a; b()", "⟨a⟩\n;\n⟨⟨b ⟨( )⟩⟩⟩"),
        ("import a.b as c, d", "⟨import ⟨⟨a . b⟩ as c⟩ , ⟨d⟩⟩"),
        ("from x import (y, z)", "⟨from ⟨x⟩ import ( ⟨y⟩ , ⟨z⟩ )⟩"),
        ("return f(x)", "⟨return ⟨f ⟨( x )⟩⟩⟩"),
        ("f(\n 'a',\n b=1)\ng()", "⟨⟨f ⟨( ⟨' a '⟩ , ⟨b = 1⟩ )⟩⟩⟩\n⟨⟨g ⟨( )⟩⟩⟩"),
    ] {
        assert_eq!(shape(text), expected, "{text}");
    }
}

/// Error nodes are not everywhere those of tree-sitter: in the third text it has one around `t` and the quote.
#[test]
fn broken_code_keeps_its_calls() {
    for (text, expected) in [
        ("\\\"m = f('x')", "⟨\\\"⟩\n⟨⟨m = ⟨f ⟨( ⟨' x '⟩ )⟩⟩⟩⟩"),
        ("f('a'", "⟨f ( ⟨' a '⟩⟩"),
        ("f('don't')", "⟨⟨f ⟨( ⟨' don '⟩ t ⟨'⟩ )⟩⟩⟩"),
        ("import a\\nm = b.c('x')", "⟨⟨import ⟨a⟩ \\n m = b . c⟩⟩\n⟨⟨( ⟨' x '⟩ )⟩⟩"),
        ("import a as e\\nm = b('x')", "⟨⟨import ⟨⟨a⟩ as e⟩⟩ \\n⟩\n⟨⟨m = ⟨b ⟨( ⟨' x '⟩ )⟩⟩⟩⟩"),
        ("load f('x') to do it", "⟨load ⟨f ⟨( ⟨' x '⟩ )⟩⟩ to do⟩\n⟨it⟩"),
        ("It's hub.load('x')", "⟨It ⟨' s hub.load( '⟩ x ' )⟩"),
    ] {
        assert_eq!(shape(text), expected, "{text}");
    }
}

#[test]
fn deep_nesting_is_read_without_an_overflow() {
    for unit in
        ["(", "[", "not ", "-", "lambda: ", "a ** ", "a if b else ", "f(", "{1: ", "lambda x ", "x if y "]
    {
        let text = unit.repeat(20_000);
        let tree = parse(&text);
        assert_eq!(tree.text(tree.root()), text, "{unit}");
        assert!(tree.n_nodes() < 400_000, "{unit}: {}", tree.n_nodes());
    }
    let closed = format!("{}{}", "(".repeat(3_000), ")".repeat(3_000));
    assert!(parse(&closed).visits().len() > 50);
}

proptest! {
    #[test]
    fn every_text_has_a_tree_whose_children_lie_in_their_parents_in_order(
        text in "([a-c .,:;=()\\[\\]{}'\"`\\\\\nif#*@é0-9-]|import |lambda |for |not |\\*\\*)*",
    ) {
        let tree = parse(&text);
        for id in tree.visits() {
            let (mut at, span) = (tree.span(id).start, tree.span(id));
            for child in tree.children(id) {
                prop_assert!(tree.span(*child).start >= at, "{} {:?}", tree.text(id), tree.text(*child));
                at = tree.span(*child).end;
            }
            prop_assert!(at <= span.end);
        }
    }
}
