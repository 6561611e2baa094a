//! The source of a syntax tree (`ast.unparse` of Python 3.11).

use ruff_python_ast::{
    BoolOp, Comprehension, Expr, Operator, Parameter, ParameterWithDefault, Parameters, UnaryOp,
};

use super::{bounds, resolve};
use crate::decode::DecodeError;
use crate::value::PyValue;

/// Python's recursion limit stops deeper trees (measured with 3.11).
pub(super) const MAX_DEPTH: usize = 329;

/// What binds stronger needs no brackets inside what binds weaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Named,
    Tuple,
    Yield,
    Test,
    Or,
    And,
    Not,
    Compare,
    BitOr,
    BitXor,
    BitAnd,
    Shift,
    Sum,
    Term,
    Factor,
    Power,
    Await,
    Atom,
}

impl Binding {
    const ALL: [Self; 18] = [
        Self::Named,
        Self::Tuple,
        Self::Yield,
        Self::Test,
        Self::Or,
        Self::And,
        Self::Not,
        Self::Compare,
        Self::BitOr,
        Self::BitXor,
        Self::BitAnd,
        Self::Shift,
        Self::Sum,
        Self::Term,
        Self::Factor,
        Self::Power,
        Self::Await,
        Self::Atom,
    ];

    fn next(self) -> Self {
        Self::ALL.into_iter().find(|other| *other > self).unwrap_or(self)
    }
}

/// Returns the source of an expression.
///
/// # Errors
/// If the expression is too deep for Python, or has an f-string, which is not written here.
pub(super) fn source(expression: &Expr) -> Result<String, DecodeError> {
    if bounds::depth_of(expression) > MAX_DEPTH {
        return Err(DecodeError::new("RecursionError", "the expression is nested too deeply"));
    }
    let mut writer = Writer::default();
    writer.write(expression, Binding::Test)?;
    Ok(writer.text)
}

#[derive(Default)]
struct Writer {
    text: String,
}

type Written = Result<(), DecodeError>;

impl Writer {
    /// Writes an expression; in brackets if it binds weaker than its surroundings need.
    fn write(&mut self, expression: &Expr, needed: Binding) -> Written {
        let own = match expression {
            Expr::Named(_) => Binding::Named,
            Expr::Yield(_) | Expr::YieldFrom(_) => Binding::Yield,
            Expr::If(_) | Expr::Lambda(_) => Binding::Test,
            Expr::BoolOp(operation) if operation.op == BoolOp::Or => Binding::Or,
            Expr::BoolOp(_) => Binding::And,
            Expr::UnaryOp(unary) if unary.op == UnaryOp::Not => Binding::Not,
            Expr::UnaryOp(_) => Binding::Factor,
            Expr::Compare(_) => Binding::Compare,
            Expr::BinOp(operation) => binding(operation.op),
            Expr::Await(_) => Binding::Await,
            Expr::Tuple(tuple) if !tuple.elts.is_empty() => Binding::Tuple,
            _ => Binding::Atom,
        };
        if needed <= own {
            return self.inner(expression);
        }
        self.text.push('(');
        self.inner(expression)?;
        self.text.push(')');
        Ok(())
    }

    fn inner(&mut self, expression: &Expr) -> Written {
        if let Some(constant) = resolve::constant(expression)? {
            self.constant(expression, &constant);
            return Ok(());
        }
        match expression {
            Expr::Name(name) => self.text.push_str(name.id.as_str()),
            Expr::Attribute(attribute) => {
                self.write(&attribute.value, Binding::Atom)?;
                let is_integer = resolve::constant(&attribute.value)?
                    .is_some_and(|value| matches!(value, PyValue::Int(_) | PyValue::Bool(_)));
                self.text.push_str(if is_integer { " ." } else { "." });
                self.text.push_str(attribute.attr.as_str());
            }
            Expr::Call(call) => {
                self.write(&call.func, Binding::Atom)?;
                self.text.push('(');
                self.separated(&call.arguments.args)?;
                for (at, keyword) in call.arguments.keywords.iter().enumerate() {
                    if at > 0 || !call.arguments.args.is_empty() {
                        self.text.push_str(", ");
                    }
                    match &keyword.arg {
                        Some(name) => self.text += &format!("{}=", name.as_str()),
                        None => self.text.push_str("**"),
                    }
                    self.write(&keyword.value, Binding::Test)?;
                }
                self.text.push(')');
            }
            Expr::Subscript(subscript) => {
                self.write(&subscript.value, Binding::Atom)?;
                self.text.push('[');
                match subscript.slice.as_ref() {
                    Expr::Tuple(tuple) if !tuple.elts.is_empty() => self.items(&tuple.elts)?,
                    slice => self.write(slice, Binding::Test)?,
                }
                self.text.push(']');
            }
            Expr::Slice(slice) => {
                self.optional(slice.lower.as_deref())?;
                self.text.push(':');
                self.optional(slice.upper.as_deref())?;
                if let Some(step) = &slice.step {
                    self.text.push(':');
                    self.write(step, Binding::Test)?;
                }
            }
            Expr::Starred(starred) => self.prefixed("*", &starred.value, Binding::BitOr)?,
            Expr::List(list) => self.bracketed("[", "]", |writer| writer.separated(&list.elts))?,
            Expr::Set(set) => self.bracketed("{", "}", |writer| writer.separated(&set.elts))?,
            Expr::Tuple(tuple) if tuple.elts.is_empty() => self.text.push_str("()"),
            Expr::Tuple(tuple) => self.items(&tuple.elts)?,
            Expr::Dict(dict) => self.dict(dict)?,
            Expr::ListComp(list) => {
                self.bracketed("[", "]", |writer| writer.comprehension(&list.elt, None, &list.generators))?;
            }
            Expr::SetComp(set) => {
                self.bracketed("{", "}", |writer| writer.comprehension(&set.elt, None, &set.generators))?;
            }
            Expr::Generator(generator) => {
                self.bracketed("(", ")", |writer| {
                    writer.comprehension(&generator.elt, None, &generator.generators)
                })?;
            }
            Expr::DictComp(dict) => {
                let key = dict.key.as_deref().ok_or_else(not_written)?;
                self.bracketed("{", "}", |writer| {
                    writer.comprehension(key, Some(&dict.value), &dict.generators)
                })?;
            }
            _ => self.operation(expression)?,
        }
        Ok(())
    }

    fn operation(&mut self, expression: &Expr) -> Written {
        match expression {
            Expr::Named(named) => {
                self.write(&named.target, Binding::Atom)?;
                self.prefixed(" := ", &named.value, Binding::Atom)
            }
            Expr::If(test) => {
                self.write(&test.body, Binding::Test.next())?;
                self.prefixed(" if ", &test.test, Binding::Test.next())?;
                self.prefixed(" else ", &test.orelse, Binding::Test)
            }
            Expr::Lambda(lambda) => {
                self.text.push_str("lambda");
                if let Some(parameters) = lambda.parameters.as_deref() {
                    self.text.push(' ');
                    self.parameters(parameters)?;
                }
                self.prefixed(": ", &lambda.body, Binding::Test)
            }
            Expr::BoolOp(operation) => {
                let mut needed = if operation.op == BoolOp::Or { Binding::Or } else { Binding::And };
                for (at, value) in operation.values.iter().enumerate() {
                    if at > 0 {
                        self.text += &format!(" {} ", operation.op.as_str());
                    }
                    // Python raises the binding at each value.
                    needed = needed.next();
                    self.write(value, needed)?;
                }
                Ok(())
            }
            Expr::UnaryOp(unary) if unary.op == UnaryOp::Not => {
                self.prefixed("not ", &unary.operand, Binding::Not)
            }
            Expr::UnaryOp(unary) => self.prefixed(unary.op.as_str(), &unary.operand, Binding::Factor),
            Expr::BinOp(operation) => {
                let own = binding(operation.op);
                let (left, right) =
                    if operation.op == Operator::Pow { (own.next(), own) } else { (own, own.next()) };
                self.write(&operation.left, left)?;
                self.prefixed(&format!(" {} ", operation.op.as_str()), &operation.right, right)
            }
            Expr::Compare(compare) => {
                self.write(&compare.left, Binding::Compare.next())?;
                for (operator, other) in compare.ops.iter().zip(&compare.comparators) {
                    self.prefixed(&format!(" {} ", operator.as_str()), other, Binding::Compare.next())?;
                }
                Ok(())
            }
            Expr::Await(awaited) => self.prefixed("await ", &awaited.value, Binding::Atom),
            Expr::Yield(yielded) => {
                if let Some(value) = &yielded.value {
                    return self.prefixed("yield ", value, Binding::Atom);
                }
                self.text.push_str("yield");
                Ok(())
            }
            Expr::YieldFrom(yielded) => self.prefixed("yield from ", &yielded.value, Binding::Atom),
            _ => Err(not_written()),
        }
    }

    fn constant(&mut self, expression: &Expr, value: &PyValue) {
        if matches!(expression, Expr::EllipsisLiteral(_)) {
            self.text.push_str("...");
            return;
        }
        if let Expr::StringLiteral(literal) = expression
            && literal.value.is_unicode()
        {
            self.text.push('u');
        }
        let text = value.repr();
        match value {
            // Infinity is written as a number that is too large.
            PyValue::Float(_) | PyValue::Complex(..) => self.text.push_str(&text.replace("inf", "1e309")),
            _ => self.text.push_str(&text),
        }
    }

    fn prefixed(&mut self, prefix: &str, expression: &Expr, needed: Binding) -> Written {
        self.text.push_str(prefix);
        self.write(expression, needed)
    }

    fn optional(&mut self, expression: Option<&Expr>) -> Written {
        expression.map_or(Ok(()), |expression| self.write(expression, Binding::Test))
    }

    fn bracketed(&mut self, open: &str, close: &str, write: impl FnOnce(&mut Self) -> Written) -> Written {
        self.text.push_str(open);
        write(self)?;
        self.text.push_str(close);
        Ok(())
    }

    fn separated(&mut self, elements: &[Expr]) -> Written {
        for (at, element) in elements.iter().enumerate() {
            if at > 0 {
                self.text.push_str(", ");
            }
            self.write(element, Binding::Test)?;
        }
        Ok(())
    }

    /// Writes the elements of a tuple: a single one has a comma.
    fn items(&mut self, elements: &[Expr]) -> Written {
        self.separated(elements)?;
        if elements.len() == 1 {
            self.text.push(',');
        }
        Ok(())
    }

    fn dict(&mut self, dict: &ruff_python_ast::ExprDict) -> Written {
        self.bracketed("{", "}", |writer| {
            for (at, item) in dict.items.iter().enumerate() {
                if at > 0 {
                    writer.text.push_str(", ");
                }
                match &item.key {
                    Some(key) => {
                        writer.write(key, Binding::Test)?;
                        writer.prefixed(": ", &item.value, Binding::Test)?;
                    }
                    None => writer.prefixed("**", &item.value, Binding::BitOr)?,
                }
            }
            Ok(())
        })
    }

    fn comprehension(
        &mut self,
        element: &Expr,
        value: Option<&Expr>,
        generators: &[Comprehension],
    ) -> Written {
        self.write(element, Binding::Test)?;
        if let Some(value) = value {
            self.prefixed(": ", value, Binding::Test)?;
        }
        for generator in generators {
            self.text.push_str(if generator.is_async { " async for " } else { " for " });
            self.write(&generator.target, Binding::Tuple)?;
            self.prefixed(" in ", &generator.iter, Binding::Test.next())?;
            for condition in &generator.ifs {
                self.prefixed(" if ", condition, Binding::Test.next())?;
            }
        }
        Ok(())
    }

    fn parameters(&mut self, parameters: &Parameters) -> Written {
        let mut is_first = true;
        for (at, parameter) in parameters.posonlyargs.iter().chain(&parameters.args).enumerate() {
            self.comma(&mut is_first);
            self.parameter(parameter)?;
            if at + 1 == parameters.posonlyargs.len() {
                self.text.push_str(", /");
            }
        }
        if parameters.vararg.is_some() || !parameters.kwonlyargs.is_empty() {
            self.comma(&mut is_first);
            self.text.push('*');
            self.text.push_str(parameters.vararg.as_deref().map_or("", name));
        }
        for parameter in &parameters.kwonlyargs {
            self.text.push_str(", ");
            self.parameter(parameter)?;
        }
        if let Some(parameter) = &parameters.kwarg {
            self.comma(&mut is_first);
            self.text += &format!("**{}", name(parameter));
        }
        Ok(())
    }

    fn comma(&mut self, is_first: &mut bool) {
        if !std::mem::replace(is_first, false) {
            self.text.push_str(", ");
        }
    }

    fn parameter(&mut self, parameter: &ParameterWithDefault) -> Written {
        self.text.push_str(name(&parameter.parameter));
        match &parameter.default {
            Some(default) => self.prefixed("=", default, Binding::Test),
            None => Ok(()),
        }
    }
}

fn name(parameter: &Parameter) -> &str {
    parameter.name.as_str()
}

fn not_written() -> DecodeError {
    DecodeError::new("Exception", "an f-string inside a nested call is not supported")
}

fn binding(operator: Operator) -> Binding {
    match operator {
        Operator::BitOr => Binding::BitOr,
        Operator::BitXor => Binding::BitXor,
        Operator::BitAnd => Binding::BitAnd,
        Operator::LShift | Operator::RShift => Binding::Shift,
        Operator::Add | Operator::Sub => Binding::Sum,
        Operator::Mult | Operator::MatMult | Operator::Div | Operator::Mod | Operator::FloorDiv => {
            Binding::Term
        }
        Operator::Pow => Binding::Power,
    }
}
