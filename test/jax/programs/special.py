"""jax.scipy: special functions and statistics; most are CHLO operations or expansions of them."""
import jax.numpy as jnp
import jax.scipy.special as js
import jax.scipy.stats as stats
from jax import lax

from programs import Program, each

A, P = "f32[3,5]", "f32[3,5]:positive"

PROGRAMS = [
    *each(js, "erf erfc expit log_ndtr ndtr i0 i0e i1 i1e entr", A),
    *each(js, "gammaln digamma gamma factorial spence", P),
    *each(js, "erfinv", A + ":unit"),
    Program("logit", lambda x: js.logit(jnp.abs(x) * 0.9 + 0.05), (A + ":unit",)),
    Program("ndtri", lambda x: js.ndtri(jnp.abs(x) * 0.9 + 0.05), (A + ":unit",)),
    *each(js, "betaln beta gammainc gammaincc xlogy xlog1py rel_entr kl_div poch", P, P),
    Program("zeta", lambda x, q: js.zeta(x + 1, q), (P, P)),
    Program("polygamma", lambda x: js.polygamma(2, x), (P,)),
    Program("betainc", lambda a, b, x: js.betainc(a, b, jnp.abs(x)), (P, P, A + ":unit")),
    Program("logsumexp_weights", lambda x, b: js.logsumexp(x, axis=1, b=b), (A, P)),
    Program("softmax", lambda x: js.softmax(x, axis=0), (A,)),
    Program("multigammaln", lambda x: js.multigammaln(x + 2, 3), (P,)),
    *[Program(f"{n}_f64", getattr(js, n), ("f64[7]:positive",)) for n in "erf erfc gammaln digamma i0e i1e".split()],
    *[Program(f"{n}_bf16", getattr(js, n), ("bf16[7]:positive",)) for n in "erf erfc gammaln digamma i1e".split()],
    *[Program(f"{n}_f16", getattr(js, n), ("f16[7]:unit",)) for n in "erfinv erf".split()],
    Program("erfinv_f64", js.erfinv, ("f64[7]:unit",)),
    Program("random_gamma_gradient", lax.random_gamma_grad, (P, P)),
    Program("normal_density", lambda x: (stats.norm.pdf(x), stats.norm.cdf(x), stats.norm.logpdf(x, 1, 2)), (A,)),
    Program("normal_survival", lambda x: (stats.norm.sf(x), stats.norm.logcdf(x)), (A,)),
    Program("gamma_density", lambda x: stats.gamma.logpdf(x, 2.0), (P,)),
    Program("beta_density", lambda x: stats.beta.logpdf(jnp.abs(x), 2.0, 3.0), (A + ":unit",)),
    Program("poisson_mass", lambda k: stats.poisson.logpmf(k, 2.0), ("s32[5]:index",)),
    Program("student_density", lambda x: stats.t.logpdf(x, 3.0), (A,)),
    Program("cauchy", lambda x: (stats.cauchy.pdf(x), stats.cauchy.cdf(x)), (A,)),
    Program("laplace", lambda x: (stats.laplace.pdf(x), stats.laplace.cdf(x)), (A,)),
    Program("logistic", lambda x: (stats.logistic.pdf(x), stats.logistic.sf(x)), (A,)),
    Program("uniform_density", lambda x: stats.uniform.logpdf(x, -1, 2), (A,)),
    Program("multivariate_normal", lambda x, c: stats.multivariate_normal.logpdf(x, jnp.zeros(4), c), ("f32[3,4]", "f32[4,4]:spd")),
    Program("bessel_orders", lambda x: js.bessel_jn(x, v=3, n_iter=20), (P,)),
    Program("spherical_harmonics_parts", lambda x: jnp.polyval(jnp.array([35.0, 0, -30, 0, 3]), x) / 8, (A + ":unit",)),
]
